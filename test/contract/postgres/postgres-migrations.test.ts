import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { postgresFunctions } from "../../../src/stores/postgres/schema/postgres-functions.js";
import { postgresVersions } from "../../../src/stores/postgres/schema/postgres-versions.js";
import { runMigrations } from "../../../src/stores/postgres/schema/run-migrations.js";
import { describeWithPostgres } from "../../support/postgres-server.js";

const spend = (amount: number) => ({
  id: `id-${amount}`,
  account: "a",
  amountMicro: amount,
  limits: windowLimits({
    credits: { session: null, week: null, month: null },
    sessionMs: 5 * 3_600_000,
    now: Date.now(),
  }),
  leaseMs: 60_000,
});

describeWithPostgres("PostgreSQL, migrations", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url, max: 20 });
  });
  afterAll(() => pool.end());

  /** The user of a URL outweighs that of `pg`'s options. */
  const urlOf = (user: string) => server.url.replace("postgres@", `${encodeURIComponent(user)}@`);

  async function versions(schema: string): Promise<number[]> {
    const { rows } = await pool.query(`select version from ${schema}.migration order by version`);
    return rows.map(({ version }) => version);
  }

  it("are run once by many that start at once, and answered for to all", async () => {
    const ledgers = Array.from({ length: 16 }, () => postgresCreditLedger({ pool, schema: "at_once" }));
    const results = await Promise.all(ledgers.map((ledger) => ledger.reserve(spend(5))));
    expect(results.filter((result) => result.ok && !result.replayed)).toHaveLength(1);
    expect(await versions("at_once")).toEqual(postgresVersions.map((_, index) => index + 1));
  });

  it("are run once by many that start at once, whatever the isolation", async () => {
    const strict = new pg.Pool({
      connectionString: server.url,
      max: 8,
      options: "-c default_transaction_isolation=serializable",
    });
    await Promise.all(Array.from({ length: 8 }, () => runMigrations(strict, "at_once_strictly")));
    expect(await versions("at_once_strictly")).toEqual(postgresVersions.map((_, index) => index + 1));
    await strict.end();
  });

  it("are run by migrate(), and again to no effect", async () => {
    const { migrate, ledger } = postgresStores({ pool, schema: "explicit" });
    await migrate();
    await ledger.reserve(spend(7));
    await postgresStores({ pool, schema: "explicit" }).migrate();
    expect(await ledger.reserve(spend(7))).toMatchObject({ replayed: true });
  });

  it("add what a later version adds, once, and keep what is there", async () => {
    const first = postgresVersions;
    const next = first.length + 1;
    const second = [...first, "create table infergate.added (n int); insert into infergate.added values (1);"];
    await runMigrations(pool, "upgraded", first);
    const ledger = postgresCreditLedger({ pool, schema: "upgraded" });
    await ledger.reserve(spend(9));
    await Promise.all(Array.from({ length: 8 }, () => runMigrations(pool, "upgraded", second)));
    expect((await versions("upgraded")).at(-1)).toBe(next);
    expect((await pool.query("select n from upgraded.added")).rows).toEqual([{ n: 1 }]);
    // A process of the version before starts in the middle of a deployment.
    const older = postgresCreditLedger({ pool, schema: "upgraded" });
    expect(await older.reserve(spend(9))).toMatchObject({ replayed: true });
  });

  it("give what they add to those who may execute what was there, and to nobody else", async () => {
    await runMigrations(pool, "private");
    await pool.query(`
      create role "Private user" login;
      create role stranger;
      revoke execute on all routines in schema private from public;
      grant usage on schema private to "Private user", stranger;
      grant select, insert, update, delete on all tables in schema private to "Private user";
      grant execute on all routines in schema private to "Private user";`);
    const second = `
      create table infergate.added (n int);
      create function infergate.new_function() returns int language sql as 'select 1';
      create procedure infergate.new_procedure() language sql as 'select 1';`;
    await runMigrations(pool, "private", [...postgresVersions, second]);
    const { rows } = await pool.query(`
      select proname from pg_proc where pronamespace = 'private'::regnamespace
      and (has_function_privilege('stranger', oid, 'execute') or not has_function_privilege('Private user', oid, 'execute'))`);
    expect(rows).toEqual([]);
    const may =
      "select array[has_table_privilege($1, 'private.added', 'insert'), has_table_privilege($1, 'private.added', 'select')] as may";
    expect((await pool.query(may, ["Private user"])).rows).toEqual([{ may: [true, true] }]);
    expect((await pool.query(may, ["stranger"])).rows).toEqual([{ may: [false, false] }]);

    for (const isolation of ["read committed", "serializable"]) {
      const options = `-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`;
      const user = new pg.Pool({ connectionString: urlOf("Private user"), options });
      const ledger = postgresCreditLedger({ pool: user, schema: "private" });
      const request = { ...spend(5), account: isolation };
      // At once, so that where they are serializable some fail for it, and go through the procedure.
      const ledgers = Array.from({ length: 4 }, () => postgresCreditLedger({ pool: user, schema: "private" }));
      const results = await Promise.all(
        ledgers.map((each, n) => each.reserve({ ...request, id: `${isolation} ${n}` })),
      );
      for (const result of results) {
        if (!result.ok) throw new Error("Nothing is limited here.");
        expect((await ledger.settle(result.lease, { amountMicro: 3 })).status).toBe("settled");
      }
      await ledger.forget(isolation);
      await user.end();
    }
  });

  it("install the functions of the newest version, whatever stood in their place", async () => {
    await runMigrations(pool, "replaced");
    await pool.query(
      "create or replace function replaced.can_hold(instance replaced.instance, amount bigint) returns boolean language sql immutable as 'select false'",
    );
    const ledger = postgresCreditLedger({ pool, schema: "replaced" });
    await expect(ledger.reserve(spend(5))).rejects.toThrow();
    await runMigrations(pool, "replaced", [...postgresVersions, ""]);
    expect((await ledger.reserve(spend(5))).ok).toBe(true);
  });

  it("send no notices: postgres.js writes each of them to the console, with the SQL around it", async () => {
    const ownPool = new pg.Pool({ connectionString: server.url });
    const notices: unknown[] = [];
    ownPool.on("connect", (client) => client.on("notice", ({ message }) => notices.push(message)));
    for (const schema of ["silent", "silent"]) await runMigrations(ownPool, schema);
    await ownPool.end();
    expect(notices).toEqual([]);
  });

  it("leave nothing behind when they fail", async () => {
    await expect(runMigrations(pool, "failed", [...postgresVersions, "select 1 / 0"])).rejects.toThrow(/division/);
    const { rows } = await pool.query("select from pg_namespace where nspname = 'failed'");
    expect(rows).toEqual([]);
    await runMigrations(pool, "failed");
  });

  it("need no right to create anything once they have been run", async () => {
    await runMigrations(pool, "granted");
    await pool.query(`
      create role everyday login;
      grant usage on schema granted to everyday;
      grant select, insert, update, delete on all tables in schema granted to everyday;
      revoke create on database postgres from public;`);
    const everyday = new pg.Pool({ connectionString: urlOf("everyday") });
    const stores = postgresStores({ pool: everyday, schema: "granted" });
    expect((await stores.ledger.reserve(spend(3))).ok).toBe(true);
    await stores.plans.put({ id: "p", models: [] });
    await everyday.end();
  });

  it("keep schemas apart", async () => {
    const [one, other] = ["one", "other"].map((schema) => postgresCreditLedger({ pool, schema }));
    await one?.reserve(spend(11));
    expect(await other?.reserve(spend(11))).toMatchObject({ replayed: false });
  });

  it.each(["", "a;b", 'a"b', "A", "1a", "pg_toast", "a.b", "a".repeat(41), "ä"])("refuse the schema %j", (schema) => {
    expect(() => postgresStores({ pool, schema })).toThrow(TypeError);
  });
});

describe("the SQL of the PostgreSQL stores", () => {
  it("asks the database for the time, in one place, and knows no other clock", () => {
    const sql = [...postgresVersions, postgresFunctions].join("\n");
    expect(sql.match(/clock_timestamp|\bnow\(\)|current_timestamp|localtime/gi)).toEqual(["clock_timestamp"]);
    expect(sql).not.toMatch(/test_|offset (?!0)|current_setting/i);
  });
});
