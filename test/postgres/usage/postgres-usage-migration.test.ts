import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/windows.js";
import { postgresCreditLedger } from "../../../src/postgres/postgres-credit-ledger.js";
import { runMigrations } from "../../../src/postgres/run-migrations.js";
import { Fixture } from "../../../src/testing/credit-ledger-fixture.js";
import { expectSumsToMatch, sumsOf } from "../../../src/testing/credit-ledger-journal/usage-rules.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { loadEmptyPostgres } from "../../schema/load-postgres.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { untilBlocked } from "../until-blocked.js";

const hour = 3_600_000;
const credits = { session: null, week: null, month: null };
describeWithPostgres("PostgreSQL, sums of usage of a schema of the version before", (server) => {
  let pool: pg.Pool;
  let serial = 0;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  async function makeSchema(): Promise<string> {
    const schema = `sums_before_${++serial}`;
    // As the last version without sums has made it.
    await loadEmptyPostgres(pool, schema, "7e451b6");
    return schema;
  }

  const accountOf = (schema: string, clientPool: pg.Pool = pool) =>
    new Fixture(new ManualClock(Date.now()), postgresCreditLedger({ pool: clientPool, schema }), {});

  /** What a process of the version before sends, by the names and arguments that it knows. */
  async function operate(client: Pick<pg.Pool, "query">, schema: string, account: string, operation: object) {
    const { rows } = await client.query(
      `select answer::text as json from ${schema}.operate($1::text::jsonb) as answer`,
      [JSON.stringify([{ account, operations: [operation] }])],
    );
    return JSON.parse(rows[0].json);
  }

  async function reserve(schema: string, account: string, id: string = randomUUID()) {
    const { session, week, month } = windowLimits({ credits, sessionMs: 5 * hour, now: Date.now() });
    const limits = [
      ...[session.limitMicro, session.lengthMs],
      ...[week.limitMicro, ...week.bounds],
      ...[month.limitMicro, ...month.bounds],
    ];
    const { lease } = await operate(pool, schema, account, {
      ...{ op: "reserve", id, amount: 10, need: 1, leaseMs: 60_000, limits },
    });
    return { op: "settle", id, kind: "charge", amount: 10, charge: 7, since: null, ...lease };
  }

  it("are those of the journal that is there, and of what processes of the version before add", async () => {
    const schema = await makeSchema();
    const account = accountOf(schema);
    const tags = { model: "m", keyId: "k", input: 3, cachedInput: 1, cacheWrite: 1, output: 2, reasoning: 1 };
    await operate(pool, schema, account.id, { ...(await reserve(schema, account.id)), tags });
    // Of many days, models, keys and teams, funded by both, with what died and came late.
    await pool.query(
      `insert into ${schema}.entry (account, at, id, kind, amount, starts, tags)
       select account, $2::bigint - i::bigint * 3600000, gen_random_uuid(),
         (array['charge', 'charge', 'charge', 'checkpoint', 'release', 'grant', 'unresolved'])[1 + i % 7], i,
         case when i % 5 = 0 then '{null,null,null,1,1,1}'::bigint[] else '{1,1,1}' end,
         case when i % 7 = 3 then null else jsonb_build_object(
           'model', 'm' || i % 3, 'keyId', 'k' || i % 4, 'input', i, 'output', 2 * i, 'reasoning', 'none',
           'tag.team', 't' || i % 2, 'tag.a"b', i % 2
         ) end
       from generate_series(1, 1500) i, (values ($1), ('other')) as v (account)`,
      [account.id, Date.now()],
    );
    // More sets of tags in one day than are kept.
    await pool.query(
      `insert into ${schema}.entry (account, at, id, kind, amount, starts, tags)
       select $1, 1000, gen_random_uuid(), 'charge', i, '{1,1,1}',
         jsonb_build_object('model', 'm' || i % 2, 'tag.team', 't' || i)
       from generate_series(1, 250) i`,
      [account.id],
    );
    const expected = await sumsOf(account, ["day", "team"]);
    await runMigrations(pool, schema);
    expect(expected.length).toBeGreaterThan(300);
    await expectSumsToMatch(account);
    const { rows } = await pool.query(
      `select count(distinct tag_set) filter (where tags <> '{}') as kept, count(*) filter (where tags is null) as others
       from ${schema}.usage_sum where day = 0`,
    );
    expect(rows).toEqual([{ kept: "200", others: "2" }]);

    await operate(pool, schema, account.id, { ...(await reserve(schema, account.id)), tags });
    const died = await reserve(schema, account.id);
    await operate(pool, schema, account.id, { op: "renew", id: died.id, amount: 10, observed: 4, leaseMs: 1000 });
    await pool.query(`update ${schema}.hold set expires_at = 1`);
    await pool.query(`update ${schema}.account set next_expiry = 1`);
    await operate(pool, schema, account.id, { ...died, tags });
    const entries = (await account.ledger.history?.({ account: account.id }))?.entries;
    expect(entries?.slice(0, 3).map(({ kind, amountMicro }) => [kind, amountMicro])).toEqual([
      ["charge", 3],
      ["checkpoint", 4],
      ["charge", 7],
    ]);
    await expectSumsToMatch(account);
  });

  it.each(["read committed", "repeatable read", "serializable"])(
    "have what is settled while they are made: %s",
    async (isolation) => {
      const schema = await makeSchema();
      const account = accountOf(schema);
      const [open, waiting] = [await reserve(schema, account.id), await reserve(schema, account.id)];
      const older = await pool.connect();
      await older.query("begin");
      await operate(older, schema, account.id, open);
      const migrating = new pg.Pool({
        connectionString: server.url,
        max: 1,
        options: `-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`,
      });
      const migrated = runMigrations(migrating, schema);
      await untilBlocked(pool);
      // It has begun under the functions of the version before, and goes on under those of this one.
      const settled = operate(pool, schema, account.id, waiting);
      await untilBlocked(pool, 2);
      await older.query("commit");
      older.release();
      await migrated;
      expect((await settled).status).toBe("settled");
      await migrating.end();
      expect(await sumsOf(account, ["model"])).toMatchObject([{ requests: 2, chargedMicro: 14 }]);
      await expectSumsToMatch(account);
    },
  );

  it("have nothing of accounts that were forgotten while they were made", async () => {
    const schema = await makeSchema();
    await pool.query(
      `insert into ${schema}.entry (account, at, id, kind, amount, starts)
       select account, 1000, account, 'charge', 1, '{1,1,1}' from (values ('gone'), ('here')) as v (account)`,
    );
    const older = await pool.connect();
    await older.query("begin");
    await older.query(`select ${schema}.lock_account('gone')`);
    const migrated = runMigrations(pool, schema);
    await untilBlocked(pool);
    await older.query(`select ${schema}.forget('gone', 1000)`);
    await older.query("commit");
    older.release();
    await migrated;
    expect((await pool.query(`select account from ${schema}.usage_sum`)).rows).toEqual([{ account: "here" }]);
  });

  it("are for the roles that may use the journal, and for nobody else", async () => {
    const schema = await makeSchema();
    await pool.query(`
      create role reader login;
      create role passer login;
      revoke execute on all functions in schema ${schema} from public;
      grant usage on schema ${schema} to reader, passer;
      grant select, insert, update, delete on all tables in schema ${schema} to reader;
      grant execute on all functions in schema ${schema} to reader;`);
    await runMigrations(pool, schema);
    const reader = new pg.Pool({ connectionString: server.url.replace("postgres@", "reader@") });
    const account = accountOf(schema, reader);
    await account.spend(5);
    await expectSumsToMatch(account);
    await account.ledger.forget(account.id);
    expect(await account.ledger.usage?.({ account: account.id, by: ["day"] })).toEqual([]);
    await account.ledger.close();
    await reader.end();
    const passer = new pg.Pool({ connectionString: server.url.replace("postgres@", "passer@") });
    await expect(passer.query(`select from ${schema}.usage_sum`)).rejects.toThrow(/permission denied/);
    await expect(passer.query(`select ${schema}.sum_usage('a', 0, 1, '[]', '["day"]')`)).rejects.toThrow(
      /permission denied/,
    );
    await passer.end();
  });
});
