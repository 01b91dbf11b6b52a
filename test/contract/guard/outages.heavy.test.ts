import { Redis } from "ioredis";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";
import { callCost, OutageTest } from "../../support/guard/outage-test.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { TcpProxy } from "../../support/tcp-proxy.js";
import { chatRequest, getRequest, startTestGateway } from "../../support/test-gateway.js";
import { DatabaseFolder } from "../sqlite/open-database.js";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const never = () => new Promise<never>(() => {});

describe("a store that never answers", () => {
  it.each([
    ["the key store", { keys: { find: never }, storeTimeoutMs: 100 }, "key_store_failed"],
    ["the plan store", { plans: { find: never }, storeTimeoutMs: 100 }, "plan_store_failed"],
    ["the ledger", { ledger: { ...memoryCreditLedger(), reserve: never } }, "ledger_failed"],
  ])("is a 503 in time: %s", async (_, options, code) => {
    const test = await startTestGateway(options);
    ends.push(() => test.close());
    const response = await test.gateway.handler(chatRequest());
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeLessThanOrEqual(5);
    expect(await response.json()).toMatchObject({ error: { code: "service_unavailable" } });
    expect(test.warnings).toMatchObject([{ code }]);
    if (code !== "ledger_failed") expect((await test.gateway.handler(getRequest("/v1/models"))).status).toBe(503);
  });

  it("does not keep back an answer that waits to be settled, whose headers have its charge", async () => {
    const memory = memoryCreditLedger();
    let isStalled = true;
    const settle: typeof memory.settle = (...given) => (isStalled ? never() : memory.settle(...given));
    const ledger = { ...memory, settle };
    const test = await OutageTest.start(ledger, { ledgerOptions: { settleTimeoutMs: 500 } });
    await test.begin(2);
    await test.finish();
    expect((await test.call()).status).toBe(200);
    isStalled = false;
    expect((await test.verifyBooks(memory)).usedMicro).toBe(3 * callCost);
    expect(new Set(test.warnings.map(({ code }) => code))).toEqual(new Set(["ledger_failed"]));
  });
});

describe.runIf(hasRedisServer)("a gateway on Redis", () => {
  async function start(...args: string[]) {
    const server = await RedisServer.start(...args);
    ends.push(() => server.stop());
    const proxy = await TcpProxy.start(server.port);
    ends.push(() => proxy.close());
    const connect = (port: number) => {
      const client = new Redis(port, "127.0.0.1", { retryStrategy: () => 50 });
      client.on("error", () => {});
      ends.push(() => client.disconnect());
      return client;
    };
    const ledger = redisCreditLedger({ client: connect(proxy.port) });
    return { server, proxy, connect, ledger, test: await OutageTest.start(ledger) };
  }

  it("finishes its streams while the server is killed, and the books balance", async () => {
    const { server, ledger, test } = await start("--appendonly", "yes", "--appendfsync", "always");
    await test.begin(8);
    await server.kill();
    const denied = await test.call();
    expect([denied.status, Number(denied.headers.get("retry-after")) <= 5]).toEqual([503, true]);
    await test.finish();
    await server.restart();
    await expect.poll(async () => (await test.call()).status).toBe(200);
    const { usedMicro, heldMicro } = await test.verifyBooks(ledger);
    expect([usedMicro, heldMicro]).toEqual([9 * callCost, 0]);
  });

  it("finishes its streams while nothing comes through, and answers in time", async () => {
    const { proxy, ledger, test } = await start();
    await test.begin(8);
    proxy.stall();
    await test.finish();
    expect((await test.call()).status).toBe(503);
    proxy.flow();
    await expect.poll(async () => (await test.call()).status).toBe(200);
    expect((await test.verifyBooks(ledger)).usedMicro).toBe(9 * callCost);
  });

  it("loses and doubles nothing while its connections are cut and slow", async () => {
    const { proxy, ledger, test } = await start();
    const load = test.load(200);
    for (let count = 0; count < 10; count++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      proxy.delayMs = count;
      proxy.cut();
    }
    await load;
    expect(test.statuses.filter((status) => status === 200).length).toBeGreaterThan(100);
    await test.verifyBooks(ledger);
  });

  it("does not notice that the server forgets its scripts", async () => {
    const { server, connect, ledger, test } = await start();
    const admin = connect(server.port);
    const load = test.load(100);
    for (let count = 0; count < 20; count++) await admin.script("FLUSH");
    await load;
    expect(new Set(test.statuses)).toEqual(new Set([200]));
    expect((await test.verifyBooks(ledger)).heldMicro).toBe(0);
  });

  it("restores what a replica has lost that is promoted", async () => {
    const { proxy, connect, server, test } = await start("--repl-diskless-sync-delay", "0");
    const replica = await RedisServer.start();
    ends.push(() => replica.stop());
    const other = connect(replica.port);
    await other.replicaof("127.0.0.1", server.port);
    await test.load(20);
    await test.begin(4);
    await connect(server.port).wait(1, 5_000);
    await other.replicaof("NO", "ONE");
    // Acknowledged, and lost.
    await test.load(20);
    proxy.target = replica.port;
    proxy.cut();
    await test.finish();
    const ledger = redisCreditLedger({ client: other });
    await expect.poll(() => test.ledgerEvents.filter(({ type }) => type === "replayed").length).toBeGreaterThan(0);
    const { usedMicro } = await test.verifyBooks(ledger);
    expect(usedMicro).toBe(44 * callCost);
  });
});

describeWithPostgres("a gateway on PostgreSQL", (server) => {
  async function start(max: number) {
    const pool = new pg.Pool({ connectionString: server.url, max });
    pool.on("error", () => {});
    ends.push(() => pool.end());
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    ends.push(() => admin.end());
    await admin.query("drop schema if exists infergate cascade");
    const { ledger } = postgresStores({ pool });
    const test = await OutageTest.start(ledger);
    // It makes its tables.
    await ledger.balance("nobody", { session: { limitMicro: null, lengthMs: 1 }, ...calendar() });
    return { pool, admin, ledger, test };
  }

  it("finishes its streams and loses nothing while its back ends are terminated", async () => {
    const { admin, ledger, test } = await start(8);
    await test.begin(8);
    let isOver = false;
    const loadOn = async () => {
      do await test.load(16);
      while (!isOver);
    };
    const load = loadOn();
    const served = () => test.statuses.filter((status) => status === 200).length;
    for (let count = 0; count < 10; count++) {
      // As many as get through on any machine, and more of them under way.
      const before = served();
      await expect.poll(served, { interval: 5 }).toBeGreaterThan(before + 2);
      await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
      );
    }
    isOver = true;
    await load;
    await test.finish();
    expect(served()).toBeGreaterThan(20);
    await test.verifyBooks(ledger);
  });

  it("answers in time while its pool is exhausted, and loses nothing", async () => {
    const { pool, ledger, test } = await start(2);
    await test.begin(4);
    const taken = [await pool.connect(), await pool.connect()];
    await test.finish();
    expect((await test.call()).status).toBe(503);
    for (const client of taken) client.release();
    await expect.poll(async () => (await test.call()).status).toBe(200);
    expect((await test.verifyBooks(ledger)).usedMicro).toBe(5 * callCost);
  });
});

function calendar() {
  const now = Date.now();
  const bounds = [now - 2e9, now - 1e9, now + 1e9, now + 2e9] as const;
  return { week: { limitMicro: null, bounds }, month: { limitMicro: null, bounds } };
}

describe("a gateway on SQLite", () => {
  it("finishes its streams while another process holds the lock, and the books balance", async () => {
    const folder = new DatabaseFolder();
    ends.push(() => folder.remove());
    const database = folder.open();
    const { ledger } = sqliteStores({ database });
    database.exec("PRAGMA busy_timeout = 10");
    const test = await OutageTest.start(ledger);
    await test.begin(8);
    const other = folder.open();
    other.exec("BEGIN IMMEDIATE");
    await test.finish();
    expect((await test.call()).status).toBe(503);
    other.exec("COMMIT");
    await expect.poll(async () => (await test.call()).status).toBe(200);
    const { usedMicro, heldMicro } = await test.verifyBooks(ledger);
    expect([usedMicro, heldMicro]).toEqual([9 * callCost, 0]);
  });
});
