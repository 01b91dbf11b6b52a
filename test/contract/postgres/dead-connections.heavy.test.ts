import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { TcpProxy } from "../../support/tcp-proxy.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

describeWithPostgres("PostgreSQL, behind what forgets connections without a word", (server) => {
  let proxy: TcpProxy;
  let pool: pg.Pool;
  let test: TestGateway | undefined;

  beforeAll(async () => {
    proxy = await TcpProxy.start(server.port);
  });
  afterAll(() => proxy.close());
  beforeEach(() => {
    pool = new pg.Pool({ connectionString: `postgres://postgres@127.0.0.1:${proxy.port}/postgres`, max: 20 });
    pool.on("error", () => {});
  });
  afterEach(async () => {
    await test?.close();
    proxy.cut();
    await pool.end();
  });

  async function start(cacheTtlMs: number): Promise<void> {
    const stores = postgresStores({ pool, listen: false });
    const { accounts, budgets, modelStore } = stores;
    await stores.plans.put({ id: "pro", models: ["acme/*"], credits: { week: 1_000 } });
    const key = { id: "key", hint: "sk-…", account: "a", plan: "pro", createdAt: 1, tags: { team: "t" } };
    await stores.keys.insert({ ...key, hash: hashKey("sk-pro") }).catch(() => {});
    await accounts.put({ id: "a", plan: "pro" });
    // Long limits: a machine that is busy is no silent connection.
    const limits = { storeTimeoutMs: 8_000, ledgerOptions: { reserveTimeoutMs: 10_000, settleTimeoutMs: 20_000 } };
    test = await startTestGateway({ ...stores, accounts, budgets, modelStore, ...limits, cacheTtlMs });
  }

  async function call(): Promise<number | undefined> {
    const response = await test?.gateway.handler(chatRequest());
    await response?.text();
    return response?.status;
  }

  /** As many connections as there are calls at once, all of which are dead then. */
  async function forget(connections: number): Promise<void> {
    await Promise.all(Array.from({ length: connections }, () => pool.query("select pg_sleep(0.05)")));
    expect(pool.idleCount).toBeGreaterThanOrEqual(connections);
    proxy.silence();
  }

  it.each([
    ["the first look-ups", 0],
    ["the reservation", 60_000],
  ])("costs %s no error", async (_, cacheTtlMs) => {
    await start(cacheTtlMs);
    expect(await call()).toBe(200);
    await forget(2);
    expect(await Promise.all([call(), call()])).toEqual([200, 200]);
    expect([await call(), await call()]).toEqual([200, 200]);
    expect(test?.warnings).toEqual([]);
  });
});
