import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { fromPostgresJs } from "../../../src/stores/postgres/postgres-pool.js";
import { postgresKeyStore, postgresPlanStore, postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { runMigrations } from "../../../src/stores/postgres/schema/run-migrations.js";
import { bundled } from "../../support/bundled.js";
import { describeWithPostgres } from "../../support/postgres-server.js";

const subscriber = fileURLToPath(new URL("fixtures/subscriber.ts", import.meta.url));
const waiting = { timeout: 10_000, interval: 20 };

let serial = 0;
function newKey(account = "a") {
  const id = `key_${++serial}`;
  return { id, hash: hashKey(id), hint: "sk-…", account, plan: "pro", createdAt: 1 };
}

describeWithPostgres("PostgreSQL, subscriptions", (server) => {
  let pool: pg.Pool;
  let listening: pg.Pool;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url });
    listening = new pg.Pool({ connectionString: server.url, application_name: "listening" });
    for (const each of [pool, listening]) each.on("error", () => {});
    await runMigrations(pool, "infergate");
  });
  afterAll(() => Promise.all([pool, listening].map((each) => each.end())));

  async function connections(): Promise<number> {
    const sql = "select from pg_stat_activity where application_name = 'listening' and query like 'listen%'";
    return (await pool.query(sql)).rowCount ?? 0;
  }

  it("share one connection, and close it with the last of them", async () => {
    const { keys, plans, migrate } = postgresStores({ pool: listening });
    await migrate();
    const ends = await Promise.all([
      keys.subscribe?.(() => {}),
      keys.subscribe?.(() => {}),
      plans.subscribe?.(() => {}),
    ]);
    expect(await connections()).toBe(1);
    for (const [index, end] of ends.entries()) {
      expect(await connections()).toBe(1);
      await end?.();
      await end?.();
      if (index === 2) await vi.waitFor(async () => expect(await connections()).toBe(0), waiting);
    }
    expect(listening.totalCount).toBe(listening.idleCount);
  });

  it("go on after their connection was cut, and after the server was away", async () => {
    const { keys } = postgresStores({ pool: listening });
    const heard: string[] = [];
    const end = await keys.subscribe?.((hash) => heard.push(hash));
    const store = postgresKeyStore({ pool });
    const isHeard = () =>
      vi.waitFor(async () => {
        const key = newKey();
        await store.insert(key);
        await vi.waitFor(() => expect(heard).toContain(key.hash), { timeout: 300 });
      }, waiting);
    await isHeard();
    await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listening'");
    await isHeard();
    await server.stop("immediate");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await server.start();
    await isHeard();
    await end?.();
  });

  it("cannot begin while the server is away, and can when it is there", async () => {
    const { keys, plans, migrate } = postgresStores({ pool: listening });
    await migrate();
    await server.stop("fast");
    const heard: string[] = [];
    const subscribe = () => keys.subscribe?.((hash) => heard.push(hash));
    const refused = await Promise.allSettled([subscribe(), plans.subscribe?.(() => {})]);
    expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await server.start();
    let end: (() => Promise<void>) | undefined;
    await vi.waitFor(async () => {
      end = await subscribe();
    }, waiting);
    expect(await connections()).toBe(1);
    const key = newKey();
    await postgresKeyStore({ pool }).insert(key);
    await vi.waitFor(() => expect(heard).toContain(key.hash), waiting);
    await end?.();
    await vi.waitFor(async () => expect(await connections()).toBe(0), waiting);
  });

  it("hear what is changed by hand", async () => {
    const { keys, plans } = postgresStores({ pool: listening });
    const heard: string[] = [];
    const ends = [await keys.subscribe?.((hash) => heard.push(hash)), await plans.subscribe?.((id) => heard.push(id))];
    const key = newKey("by hand");
    await keys.insert(key);
    await plans.put({ id: "plan by hand", models: [] });
    await vi.waitFor(() => expect(heard).toHaveLength(2), waiting);
    await pool.query("update infergate.record set alias = repeat('0', 64) where kind = 'key' and owner = 'by hand'");
    await pool.query("delete from infergate.record where kind = 'plan' and id = 'plan by hand'");
    await vi.waitFor(() => expect(heard).toHaveLength(5), waiting);
    expect(heard.toSorted()).toEqual(["0".repeat(64), key.hash, key.hash, "plan by hand", "plan by hand"].toSorted());
    for (const end of ends) await end?.();
  });

  it("take no connection out of the pool, and do not keep it from ending", async () => {
    const small = new pg.Pool({ connectionString: server.url, max: 1 });
    const { keys } = postgresStores({ pool: small });
    const heard: string[] = [];
    const end = await keys.subscribe?.((hash) => heard.push(hash));
    const key = newKey();
    await keys.insert(key);
    await vi.waitFor(() => expect(heard).toEqual([key.hash]), waiting);
    await small.end();
    await end?.();
  });

  it("keep no process alive", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [await bundled(subscriber), server.url], {
      timeout: 15_000,
    });
    expect(stdout).toBe("subscribed\n");
  });

  it("say what to do without a way to listen, and are not offered where none is wanted", async () => {
    const bare = { query: (text: string, values?: unknown[]) => pool.query(text, values) };
    const { keys, plans, ledger } = postgresStores({ pool: bare });
    for (const { subscribe } of [keys, plans, ledger]) {
      await expect(subscribe?.(() => {})).rejects.toMatchObject({
        name: "NoChangeFeedError",
        message: expect.stringMatching(/`connect` nor `listen`/),
      });
    }
    const silent = { ...bare, listen: false as const };
    const stores = [postgresKeyStore, postgresPlanStore, postgresCreditLedger].map((make) => make({ pool: silent }));
    expect(stores.map(({ subscribe }) => subscribe)).toEqual([undefined, undefined, undefined]);
  });
});

describeWithPostgres("postgres.js, subscriptions", (server) => {
  let sql: postgres.Sql;
  beforeAll(() => {
    sql = postgres(server.url, { max: 2 });
  });
  afterAll(() => sql.end());

  it("are there by default", async () => {
    const { keys, plans, ledger } = postgresStores({ pool: fromPostgresJs(sql) });
    const heard: string[] = [];
    const ends = await Promise.all([
      keys.subscribe?.((hash) => heard.push(hash)),
      plans.subscribe?.((id) => heard.push(id)),
      ledger.subscribe?.((account) => heard.push(account)),
    ]);
    const key = newKey();
    await keys.insert(key);
    await plans.put({ id: "p", models: [] });
    await ledger.reset("an account", ["week"]);
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(["an account", key.hash, "p"].toSorted()), waiting);
    for (const end of ends) await end?.();
  });

  it("are not there where they are not wanted", () => {
    const { keys, plans, ledger } = postgresStores({ pool: fromPostgresJs(sql, { listen: false }) });
    expect([keys.subscribe, plans.subscribe, ledger.subscribe]).toEqual([undefined, undefined, undefined]);
  });

  it("say what to do where the driver cannot listen", async () => {
    const pool = fromPostgresJs({ unsafe: (text, values) => sql.unsafe(text, values) });
    await expect(postgresStores({ pool }).keys.subscribe?.(() => {})).rejects.toThrow(/`connect` nor `listen`/);
  });
});
