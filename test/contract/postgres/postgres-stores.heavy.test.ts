import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { runMigrations } from "../../../src/stores/postgres/schema/run-migrations.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { postgres } from "../stores/postgres.js";
import { describeOnStore } from "../stores/store-under-test.js";

describeOnStore(postgres("pg"));

describeWithPostgres("PostgreSQL", (server) => {
  let pools: pg.Pool[];

  beforeAll(async () => {
    pools = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: 20 }));
    await runMigrations(pools[0] as PostgresPool, "infergate");
  });
  afterAll(() => Promise.all(pools.map((each) => each.end())));

  it("lets a role that may only read find budgets and models", async () => {
    const [pool] = pools as [pg.Pool];
    const { budgets, modelStore } = postgresStores({ pool });
    await budgets.put("read", { tag: "member" });
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
