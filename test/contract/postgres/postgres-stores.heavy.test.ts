import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { postgresAuditTrail } from "../../../src/stores/postgres/postgres-audit-trail.js";
import type { PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { fromPostgresJs } from "../../../src/stores/postgres/postgres-pool.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { runMigrations } from "../../../src/stores/postgres/schema/run-migrations.js";
import { describeWritableBudgetStore } from "../../../src/testing/budget-store/describe-writable-budget-store.js";
import { describeAuditTrail } from "../../../src/testing/describe-audit-trail.js";
import { describeWritablePlanStore } from "../../../src/testing/describe-plan-store.js";
import { describeWritableAccountStore } from "../../../src/testing/describe-writable-account-store.js";
import { describeWritableKeyStore } from "../../../src/testing/describe-writable-key-store.js";
import { describeModelStore } from "../../../src/testing/model-store/describe-model-store.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { expectFullStore, expectModelsByHand } from "../contracts/models-by-hand.js";

describeWithPostgres("PostgreSQL", (server) => {
  let pools: pg.Pool[];
  let clients: postgres.Sql[];

  beforeAll(async () => {
    pools = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: 20 }));
    clients = [1, 2].map(() => postgres(server.url, { max: 4 }));
    await runMigrations(pools[0] as PostgresPool, "infergate");
  });
  afterAll(() => Promise.all([...pools, ...clients].map((each) => each.end())));

  const drivers: Record<string, () => readonly PostgresPool[]> = {
    pg: () => pools,
    "postgres.js": () => clients.map((sql) => fromPostgresJs(sql)),
  };
  for (const [name, driver] of Object.entries(drivers)) {
    const make = async () => {
      const [first, second] = driver().map((pool) => postgresStores({ pool }));
      if (!first || !second) throw new Error("Two pools are needed.");
      return [first, second] as const;
    };
    describeAuditTrail(`postgresAuditTrail on ${name}`, async (limits) => {
      await pools[0]?.query("truncate infergate.audit_entry");
      const [first, second] = driver().map((pool) => postgresAuditTrail({ pool, ...limits }));
      if (!first || !second) throw new Error("Two pools are needed.");
      return [first, second];
    });
    describeWritableKeyStore(`postgresKeyStore on ${name}`, async () => {
      const [first, second] = await make();
      return [first.keys, second.keys];
    });
    describeWritableAccountStore(`postgresAccountStore on ${name}`, async () => {
      const [first, second] = await make();
      return [first.accounts, second.accounts];
    });
    describeWritableBudgetStore(`postgresBudgetStore on ${name}`, async () => {
      const [first, second] = await make();
      return [first.budgets, second.budgets];
    });
    describeModelStore(`postgresModelStore on ${name}`, async () => {
      const [first, second] = await make();
      return [first.modelStore, second.modelStore];
    });
    describeWritablePlanStore(`postgresPlanStore on ${name}`, async () => {
      const [first, second] = await make();
      return [first.plans, second.plans];
    });
  }

  it("lists models that a person has broken beside the others", async () => {
    const [pool] = pools as [pg.Pool];
    const sql = `
      insert into infergate.record (kind, id, owner, text) values ('model', $1, '', $2)
      on conflict (kind, id) do update set text = excluded.text`;
    await expectModelsByHand(postgresStores({ pool }).modelStore, (id, text) => pool.query(sql, [id, text]));
  });

  it("keeps as many models as a store may have, and no more", async () => {
    const [pool] = pools as [pg.Pool];
    await pool.query("delete from infergate.record where kind = 'model'");
    const sql = `
      insert into infergate.record (kind, id, owner, text)
      select 'model', 'full/' || n, '', json_build_object('id', 'full/' || n) from generate_series(1, $1) n`;
    await expectFullStore(postgresStores({ pool }).modelStore, (count) => pool.query(sql, [count]));
  });

  it("lets a role that may only read find budgets and models", async () => {
    const [pool] = pools as [pg.Pool];
    const { budgets, modelStore } = postgresStores({ pool });
    await budgets.put("read", { tag: "member" });
    await modelStore.remove("full/2");
    await modelStore.put({ id: "read" });
    await pool.query(`
      create role reader login;
      grant usage on schema infergate to reader;
      grant select on all tables in schema infergate to reader;`);
    const reading = new pg.Pool({ connectionString: server.url.replace("postgres@", "reader@") });
    const reader = postgresStores({ pool: reading });
    expect(await reader.budgets.find("read", { member: "42" })).toEqual([{ tag: "member" }]);
    expect((await reader.budgets.list("read")).budgets).toEqual([{ tag: "member" }]);
    expect(await reader.modelStore.find("read")).toMatchObject({ model: { id: "read" } });
    expect((await reader.modelStore.list()).some(({ id }) => id === "read")).toBe(true);
    await expect(reader.budgets.put("read", { tag: "team" })).rejects.toThrow(/permission/);
    await expect(reader.modelStore.put({ id: "read", type: "chat" })).rejects.toThrow(/permission/);
    await reading.end();
  });

  it("finds budgets by an index, whatever it knows of how many there are", async () => {
    const [pool] = pools as [pg.Pool];
    const plans: string[] = [];
    const explaining: PostgresPool = {
      async query(text, values) {
        if (!/infergate.record where kind = \$1 and (?:id = sought|owner)/.test(text))
          return pool.query(text, values as unknown[]);
        const { rows } = await pool.query(`explain ${text}`, values as unknown[]);
        plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
        return { rows: [] };
      },
    };
    const { budgets } = postgresStores({ pool: explaining });
    const read = async () => {
      plans.length = 0;
      await budgets.find("big", { member: "77777", team: "red" });
      await budgets.list("big", { cursor: "member=5", limit: 10 });
      expect(plans[0]).toMatch(/Index Cond: \(\(kind = 'budget'::text\) AND \(id = sought\.value\)\)/);
      expect(plans[1]).toMatch(
        /Index Cond: \(\(kind = 'budget'::text\) AND \(owner = 'big'::text\) AND \(id > 'big\nmember=5'::text COLLATE "C"\)\)/,
      );
      expect(plans[1]).not.toContain("Sort");
    };
    await pool.query(`
      insert into infergate.record (kind, id, owner, text)
      select 'budget', e'big\\nmember=' || n, 'big', json_build_object('tag', 'member', 'value', n::text)
      from generate_series(1, 100000) n`);
    await read();
    await pool.query("analyze infergate.record");
    await read();
    const real = postgresStores({ pool }).budgets;
    expect(await real.find("big", { member: "77777" })).toEqual([{ tag: "member", value: "77777" }]);
    await real.forget("big");
    expect((await real.list("big")).budgets).toEqual([]);
  });
});
