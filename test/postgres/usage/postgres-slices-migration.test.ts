import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { postgresCreditLedger } from "../../../src/postgres/postgres-credit-ledger.js";
import { runMigrations } from "../../../src/postgres/run-migrations.js";
import { inSchema } from "../../../src/postgres/schema/in-schema.js";
import { usageSql, usageValues } from "../../../src/postgres/usage/usage-query.js";
import { day, Fixture, hour, minute } from "../../../src/testing/credit-ledger-fixture.js";
import { expectSumsToMatch } from "../../../src/testing/credit-ledger-journal/usage-rules.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { loadEmptyPostgres } from "../../schema/load-postgres.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { untilBlocked } from "../until-blocked.js";
import { type Entered, enter } from "./entered.js";
import { usageOf } from "./usage-place.js";

const midnight = Math.floor(Date.now() / day) * day - 3 * day;

const calls: readonly Entered[] = Array.from({ length: 2_500 }, (_, n) => ({
  ...{ at: midnight + n * 30_000, kind: "charge", amountMicro: n + 1, isPrepaid: n % 2 === 0 },
  tags: { model: `m${n % 3}`, input: n, "tag.team": "t" },
}));

describeWithPostgres("PostgreSQL, slices of days of a schema of the version before", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  async function makeSchema(schema: string): Promise<string> {
    // As the last version without slices has made it.
    await loadEmptyPostgres(pool, schema, "ecf89fa");
    return schema;
  }

  const accountOf = (schema: string, clientPool: pg.Pool = pool) =>
    new Fixture(new ManualClock(Date.now()), postgresCreditLedger({ pool: clientPool, schema }), {});

  async function sliceAll(schema: string, client: Pick<pg.Pool, "query"> = pool): Promise<void> {
    while ((await client.query(`select ${schema}.slice_usage(1000) as more`)).rows[0].more);
  }

  it("are made of days that were there, and of what was added as the schema was brought up to date", async () => {
    const schema = await makeSchema("slices_before");
    const account = accountOf(schema);
    const to = { schema, account: account.id };
    await enter(pool, to, calls.slice(1));
    const older = await pool.connect();
    await older.query("begin");
    await enter(older, to, calls.slice(0, 1));
    const migrated = runMigrations(pool, schema);
    await untilBlocked(pool);
    await older.query("commit");
    older.release();
    await migrated;
    const ranges = [{ from: midnight + 5 * hour + minute }, { to: midnight + 7 * hour }, {}];
    for (const range of ranges) await expectSumsToMatch(account, range);
    await sliceAll(schema);
    const { rows } = await pool.query(
      `select count(distinct since) as slices, sum(requests) as calls from ${schema}.usage_slice`,
    );
    expect(rows).toEqual([{ slices: "84", calls: "2500" }]);
    for (const range of ranges) await expectSumsToMatch(account, range);
    // What slices answer for may say anything in the journal.
    const sums = await usageOf(account, ["model"], ranges[0]);
    const change = `update ${schema}.entry set amount = amount + $1 where at < $2`;
    await pool.query(change, [1_000, midnight + 4 * hour]);
    expect(await usageOf(account, ["model"], ranges[0])).toEqual(sums);
    await pool.query(change, [-1_000, midnight + 4 * hour]);

    // Processes of the version before go on, by the names and arguments that they know.
    const asked = usageValues({ account: account.id, by: ["model"], ...ranges[0] });
    const answers = await pool.query(inSchema(usageSql, schema), asked);
    expect(answers.rows.map(({ json }) => JSON.parse(json)[0]).toSorted()).toEqual(["m0", "m1", "m2"]);
    await enter(pool, to, calls.slice(10, 20));
    for (const range of ranges) await expectSumsToMatch(account, range);
    await pool.query(`select ${schema}.purge($1, 1000)`, [day]);
    // Of divided days the journal answers now, as far as it is there.
    for (const range of ranges.slice(0, 2)) await expectSumsToMatch(account, range);
    await pool.query(`select ${schema}.forget($1, 10000)`, [account.id]);
    for (const table of ["usage_sum", "usage_slice"]) {
      expect((await pool.query(`select from ${schema}.${table}`)).rowCount).toBe(0);
    }
  });

  it("are for the roles that may use the journal, and for nobody else", async () => {
    const schema = await makeSchema("slices_granted");
    await pool.query(`
      create role slicer login;
      create role slice_passer login;
      revoke execute on all functions in schema ${schema} from public;
      grant usage on schema ${schema} to slicer, slice_passer;
      grant select, insert, update, delete on all tables in schema ${schema} to slicer;
      grant execute on all functions in schema ${schema} to slicer;`);
    await runMigrations(pool, schema);
    const slicer = new pg.Pool({ connectionString: server.url.replace("postgres@", "slicer@") });
    const account = accountOf(schema, slicer);
    await enter(slicer, { schema, account: account.id }, calls);
    await sliceAll(schema, slicer);
    await expectSumsToMatch(account, { from: midnight + 5 * hour + minute });
    await account.ledger.forget(account.id);
    await account.ledger.close();
    await slicer.end();
    const passer = new pg.Pool({ connectionString: server.url.replace("postgres@", "slice_passer@") });
    for (const sql of [
      `select from ${schema}.usage_slice`,
      `select ${schema}.slice_usage(1)`,
      `select ${schema}.list_busy()`,
    ]) {
      await expect(passer.query(sql)).rejects.toThrow(/permission denied/);
    }
    await passer.end();
  });
});
