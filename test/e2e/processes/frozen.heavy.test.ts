import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStores, type Stores } from "../../../examples/demo/open-stores.js";
import { hashKey } from "../../../src/index.js";
import type { LoggedRequest } from "../../../src/request-log/request-log.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { hasPgBouncer, PgBouncer } from "../../support/pgbouncer.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { readBooks } from "./books.js";
import { leftText, type PlannedCall, planCalls } from "./frozen/call-plan.js";
import { Platform } from "./frozen/platform.js";
import { Random } from "./spending/random.js";

const seed = Number(process.env["RUN_SEED"] ?? Date.now() % 1_000_000_000);
/** `WITHOUT_WAIT_UNTIL=1` shows what is lost without it: the test fails. */
const waits = process.env["WITHOUT_WAIT_UNTIL"] === undefined;
const accounts = ["fn-a", "fn-b", "fn-c"];
const count = 200;

if (!hasPgBouncer) console.warn("SKIPPED: functions behind PgBouncer: it is not installed.");

describe.skipIf(!hasPgBouncer)("Functions that are frozen and killed", () => {
  describeWithPostgres("behind PgBouncer, over PostgreSQL", (server) => {
    const bouncer = new PgBouncer();
    let stores: Required<Stores>;
    let upstream: FakeUpstream;
    let platform: Platform | undefined;
    beforeAll(async () => {
      await bouncer.start(server);
      stores = (await openStores({ DATABASE_URL: server.url })) as Required<Stores>;
      upstream = await startFakeUpstream();
      await putKeys(stores);
    });
    afterAll(async () => {
      await platform?.stop();
      await upstream?.close();
      await stores?.close();
      await bouncer.stop();
    });

    it(`leave books that agree on each of ${count} calls (seed ${seed})`, { timeout: 600_000 }, async () => {
      const random = new Random(seed);
      const calls = planCalls(count, accounts, random);
      const startedAt = Date.now();
      platform = new Platform(upstream, { database: bouncer.url, waits }, random);
      await platform.run(calls, 3);
      const [books, lines] = [await readAll(stores), await logOf(stores)];
      const figures = figuresOf(calls, platform, { books, lines, upstream });
      console.info(figures);

      // Everybody has seen each call, and once.
      const ids = calls.map(({ id }) => id).sort();
      expect(upstream.requests.map(({ json }) => json.user).sort()).toEqual(ids);
      expect(lines.map(({ requestId }) => requestId).sort()).toEqual(ids);
      expect(new Set(platform.statuses.values())).toEqual(new Set([200]));
      const byId = new Map(lines.map((line) => [line.requestId, line]));
      const found = calls.map((call) => ({ call, line: byId.get(call.id) as LoggedRequest }));
      expect([...books.charges.keys()].sort()).toEqual(lines.map(({ callId }) => callId).sort());

      // Each costs what the upstream has reported, or what its client has got.
      for (const { call, line } of found) {
        expect([call.id, line.account, books.charges.get(line.callId ?? "")]).toEqual([
          call.id,
          call.account,
          line.chargedMicro,
        ]);
        expect([call, line.chargedMicro]).toEqual([call, chargeOf(call, line)]);
      }
      for (const { used, booked, held } of books.each) expect([used, held]).toEqual([booked, 0]);
      for (const account of accounts) {
        const { lastUsedAt = 0 } = (await stores.keys.find(hashKey(`sk-${account}`))) as { lastUsedAt?: number };
        expect([account, lastUsedAt >= startedAt]).toEqual([account, true]);
      }

      // A function has its pool's connections to the pooler. It knows no way around it.
      expect(mostConnections(platform)).toBeGreaterThan(0);
      expect(mostConnections(platform)).toBeLessThanOrEqual(2);
    });
  });
});

async function putKeys({ plans, keys }: Stores): Promise<void> {
  await plans.put({ id: "fn", models: ["acme/*"], credits: { session: 1 } });
  for (const account of accounts) {
    const of = { id: `key_${account}`, hash: hashKey(`sk-${account}`), hint: "sk-…", account, plan: "fn" };
    await keys.insert({ ...of, createdAt: Date.now() });
  }
}

/** The journals and ledgers of all accounts. */
async function readAll(stores: Stores) {
  const each = [];
  for (const account of accounts) each.push(await readBooks(stores, account));
  return { each, charges: new Map(each.flatMap(({ charges }) => [...charges])) };
}

async function logOf({ requestLog }: Required<Stores>): Promise<LoggedRequest[]> {
  return [...(await requestLog.list({ limit: 1_000 })).requests];
}

/** By docs/credits.md: a client that leaves pays for the prompt as it was held, and for the output so far. */
function chargeOf({ kind, usage }: PlannedCall, { tokens, usageSource, endReason }: LoggedRequest): number {
  if (!kind.startsWith("left")) {
    expect([usageSource, endReason]).toEqual(["provider", "completed"]);
    return usage.input + 10 * usage.output;
  }
  expect([usageSource, endReason]).toEqual(["partial", "client_gone"]);
  expect(tokens.output).toBe(kind === "left whole" ? 0 : leftText.split(" ").length);
  expect(tokens.input).toBeGreaterThan(0);
  return tokens.input + 10 * tokens.output;
}

interface Found {
  readonly books: Awaited<ReturnType<typeof readAll>>;
  readonly lines: readonly LoggedRequest[];
  readonly upstream: FakeUpstream;
}

function mostConnections({ instances }: Platform): number {
  return Math.max(...instances.map(({ connections }) => connections));
}

function figuresOf(calls: readonly PlannedCall[], platform: Platform, { books, lines, upstream }: Found): string {
  const of = (kind: string) => calls.filter((call) => call.kind === kind).length;
  const held = books.each.reduce((sum, each) => sum + each.held, 0);
  return (
    `${of("whole")} whole, ${of("stream")} streams, ${of("left stream")} + ${of("left whole")} that clients left; ` +
    `${platform.instances.length} processes of at most ${mostConnections(platform)} connections. Upstream ${upstream.requests.length}, journal ${books.charges.size}, ` +
    `log ${lines.length}; held ${held} micro-credits.`
  );
}
