import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashKey } from "../../../src/index.js";
import { postgresStores } from "../../../src/postgres.js";
import { redisStores } from "../../../src/redis.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { UpstashServer } from "../../support/upstash-server.js";
import { NeonHttp } from "../grounds/neon-http.js";
import { hasRuntime, type Runtime, startRuntime } from "./start-runtime.js";
import { expectBooksToAgree, type WorkerBooks, writtenOf } from "./worker-books.js";
import { type CountingUpstream, sendTraffic, startCountingUpstream } from "./worker-traffic.js";

const traffic = { calls: 120, atOnce: 40 };
const key = "sk-of-the-test";

let made: string;
let upstream: CountingUpstream;
let runtime: Runtime | undefined;

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), "infergate-worker-"));
  upstream = await startCountingUpstream();
});
afterAll(async () => {
  await runtime?.close();
  upstream.close();
  await rm(made, { recursive: true, force: true });
});

async function start(entry: string, bindings: Record<string, string>): Promise<void> {
  await runtime?.close();
  const given = { ...bindings, UPSTREAM_BASE_URL: upstream.url };
  runtime = await startRuntime("workerd", {}, { made, entry, bindings: given });
}

type Stores = Pick<ReturnType<typeof postgresStores>, "keys" | "plans">;

async function addCaller({ keys, plans }: Stores, account: string): Promise<void> {
  await plans.put({ id: "starter", models: ["acme/*"], credits: { week: 20 } });
  const hash = hashKey(key);
  await keys.insert({ id: "key_1", hash, hint: "sk-ig-…test", account, plan: "starter", createdAt: Date.now() });
}

async function expectExact(books: WorkerBooks, account: string): Promise<void> {
  const before = { ...upstream.seen };
  const { left } = await sendTraffic({ origin: runtime?.origin ?? "", key }, traffic);
  const written = await writtenOf(books, account, traffic.calls);
  await expectBooksToAgree(books, account, written);
  expect(upstream.seen.calls - before.calls).toBe(traffic.calls);
  expect(upstream.seen.cut - before.cut).toBe(left);
  const [most] = [...written.charges].sort((one, other) => other.amountMicro - one.amountMicro);
  expect(written.charges.filter(({ amountMicro }) => amountMicro === most?.amountMicro)).toHaveLength(
    traffic.calls - left,
  );
}

describeWithPostgres("examples/worker, with PostgreSQL over HTTP", (server) => {
  let endpoint: NeonHttp;
  let pool: pg.Pool;
  beforeAll(async () => {
    endpoint = await NeonHttp.start(server.url);
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(async () => {
    await runtime?.close();
    runtime = undefined;
    await pool.end();
    await endpoint.close();
  });

  it.skipIf(!hasRuntime("workerd"))("loses none of 120 calls, 40 at once, of which a third is left", async () => {
    const stores = postgresStores({ pool });
    await addCaller(stores, "acct_1");
    await start("serve-neon.ts", {
      DATABASE_URL: "postgresql://user:secret@endpoint.neon.test/neondb",
      NEON_ENDPOINT: endpoint.url,
      GATEWAY_SECRET: "a secret that all isolates of this test have",
    });
    await expectExact({ ledger: stores.ledger, requestLog: stores.requestLog }, "acct_1");
  });
});

describe.skipIf(!hasRedisServer || !hasRuntime("workerd"))("a Worker with Redis of Upstash", () => {
  let server: RedisServer;
  let rest: UpstashServer;
  let client: Redis;
  beforeAll(async () => {
    server = await RedisServer.start();
    rest = await UpstashServer.start(server.port);
    client = new Redis(server.port, "127.0.0.1");
  });
  afterAll(async () => {
    await runtime?.close();
    runtime = undefined;
    client.disconnect();
    await rest.stop();
    await server.kill();
  });

  it("loses none of 120 calls, 40 at once, of which a third is left", async () => {
    const stores = redisStores({ client, prefix: "worker" });
    await addCaller(stores, "acct_2");
    await start("serve-upstash.ts", { REDIS_URL: rest.url, REDIS_TOKEN: rest.token });
    await expectExact({ ledger: stores.ledger, requestLog: stores.requestLog }, "acct_2");
  });
});
