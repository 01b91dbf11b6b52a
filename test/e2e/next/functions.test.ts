import OpenAI from "openai";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openStores, type Stores } from "../../../examples/demo/open-stores.js";
import { hashKey } from "../../../src/index.js";
import {
  chatChunks,
  createGate,
  eventStream,
  type FakeUpstream,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { hasPgBouncer, PgBouncer } from "../../support/pgbouncer.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { readBooks } from "../processes/books.js";
import { exampleFolder, NextApp } from "./next-app.js";

const account = "acct_1";
const cronSecret = "the secret of the cron";
const question = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

describe.skipIf(!hasPgBouncer)("the example of functions", () => {
  describeWithPostgres("over PostgreSQL behind PgBouncer", (server) => {
    const bouncer = new PgBouncer();
    let upstream: FakeUpstream;
    let app: NextApp | undefined;
    let stores: Required<Stores>;

    beforeAll(async () => {
      await bouncer.start(server);
      upstream = await startFakeUpstream();
      stores = (await openStores({ DATABASE_URL: server.url })) as Required<Stores>;
      app = new NextApp(exampleFolder("functions"), {
        DATABASE_URL: bouncer.url,
        UPSTREAM_BASE_URL: upstream.url,
        UPSTREAM_MODEL: "up",
        GATEWAY_SECRET: "the same in all instances: 0123456789",
        CRON_SECRET: cronSecret,
      });
      await app.build();
      await app.run("seed");
    }, 300_000);
    afterAll(async () => {
      await app?.stop("SIGKILL");
      await stores?.close();
      await upstream?.close();
      await bouncer.stop();
    });

    async function start() {
      const next = app as NextApp;
      await next.start();
      const client = new OpenAI({ baseURL: `${next.origin}/api/ai/v1`, apiKey: "sk-demo", maxRetries: 0 });
      onTestFinished(() => next.stop("SIGKILL"));
      return { next, client, sweep: (secret?: string) => sweepOf(next, secret) };
    }

    function sweepOf({ origin }: NextApp, secret?: string): Promise<Response> {
      const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
      return fetch(`${origin}/api/cron/sweep`, { headers });
    }

    /** A stream whose client has its first word, and leaves if it should. */
    async function stream(client: OpenAI, leaves: boolean) {
      const gate = createGate();
      gate.step(3);
      upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
      const chunks = await client.chat.completions.create({ ...question, stream: true });
      for await (const { choices } of chunks) {
        if (choices[0]?.delta.content !== "Hello") continue;
        if (leaves) break;
        gate.open();
      }
    }

    /** What each book has of the calls so far. */
    async function books() {
      const { used, booked, held, charges } = await readBooks(stores, account);
      const { requests } = await stores.requestLog.list({ limit: 1_000 });
      const logged = new Map(requests.map(({ callId, chargedMicro }) => [callId ?? "none", chargedMicro]));
      return { used, booked, held, charges, logged };
    }

    async function expectBooks(calls: number): Promise<void> {
      const { used, booked, held, charges, logged } = await books();
      expect([charges.size, logged.size, upstream.requests.length]).toEqual([calls, calls, calls]);
      expect(new Map([...logged].sort())).toEqual(new Map([...charges].sort()));
      expect([used, held]).toEqual([booked, 0]);
    }

    it("loses nothing when it is stopped as clients leave, nor when it is killed after that", async () => {
      const first = await start();
      for (let call = 0; call < 4; call++) {
        upstream.replyOnce(wholeAnswer());
        expect((await first.client.chat.completions.create(question)).usage).toMatchObject({ total_tokens: 12 });
        await stream(first.client, false);
        await stream(first.client, true);
      }
      // Next.js ends when the work has ended that `after` was given.
      await first.next.stop("SIGTERM");
      await expectBooks(12);
      const { lastUsedAt } = (await stores.keys.find(hashKey("sk-demo"))) as { lastUsedAt?: number };
      expect(lastUsedAt).toBeGreaterThan(0);

      const second = await start();
      for (let call = 0; call < 4; call++) await stream(second.client, call % 2 === 0);
      await expect.poll(async () => (await books()).logged.size, { timeout: 60_000 }).toBe(16);
      await second.next.stop("SIGKILL");
      await expectBooks(16);
    });

    it("sweeps what a killed one held, when its cron says its secret", async () => {
      const killed = await start();
      const gate = createGate();
      gate.step(3);
      upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
      const chunks = await killed.client.chat.completions.create({ ...question, stream: true });
      const reader = chunks[Symbol.asyncIterator]();
      while ((await reader.next()).value?.choices[0]?.delta.content !== "Hello");
      await killed.next.stop("SIGKILL");
      await expect(reader.next()).rejects.toThrow();
      expect((await books()).held).toBeGreaterThan(0);

      const { sweep } = await start();
      expect((await sweep()).status).toBe(401);
      expect((await sweep("another")).status).toBe(401);
      await expireLeases(server.url);
      const swept = await sweep(cronSecret);
      expect([swept.status, await swept.json()]).toEqual([200, { ended: 1 }]);
      const { used, booked, held } = await books();
      expect([used, held]).toEqual([booked, 0]);
    });
  });
});

/** As if their time were over. */
async function expireLeases(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query("update infergate.hold set expires_at = 1 where not expired");
  await client.query("update infergate.account set next_expiry = 1");
  await client.end();
}
