import { readFileSync } from "node:fs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashKey } from "../../src/keys/hash-key.js";
import { windowLimits } from "../../src/ledger/windows.js";
import { postgresCreditLedger } from "../../src/postgres/postgres-credit-ledger.js";
import { postgresStores } from "../../src/postgres/postgres-stores.js";
import { runMigrations } from "../../src/postgres/run-migrations.js";
import { postgresFunctions } from "../../src/postgres/schema/postgres-functions.js";
import { postgresVersions } from "../../src/postgres/schema/postgres-versions.js";
import { expectKeysOfBefore } from "../contracts/keys-of-before.js";
import { expectStoresOfBefore } from "../contracts/stores-of-before.js";
import { loadEmptyPostgres } from "../schema/load-postgres.js";
import { describeWithPostgres } from "../support/postgres-server.js";

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

  it("take a schema of the first version on, with all that is in it and for all who may use it", async () => {
    await loadEmptyPostgres(pool, "first", "c2fa40a");
    await pool.query(`
      create role first_user login;
      grant usage on schema first to first_user;
      grant select, insert, update, delete on all tables in schema first to first_user;`);
    // What processes of the version before go on calling: the functions, with their arguments.
    const [account, request] = ["first-account", { ...spend(5), account: "first-account" }];
    const operate = (operations: object[]) =>
      pool.query("select answer::text as json from first.operate($1::text::jsonb) as answer", [
        JSON.stringify([{ subject: account, operations }]),
      ]);
    const { session, week, month } = request.limits;
    const limits = [
      session.limitMicro,
      session.lengthMs,
      week.limitMicro,
      ...week.bounds,
      month.limitMicro,
      ...month.bounds,
    ];
    const reserve = { op: "reserve", id: "before", amount: 5, need: 1, leaseMs: 60_000, limits };
    const { rows } = await operate([reserve]);
    expect(JSON.parse(rows[0].json)).toMatchObject({ status: "admitted" });

    await runMigrations(pool, "first");
    expect(await versions("first")).toEqual(postgresVersions.map((_, index) => index + 1));
    const held = await postgresCreditLedger({ pool, schema: "first" }).balance(account, request.limits);
    expect(held.windows.month).toMatchObject({ usedMicro: 0, heldMicro: 5 });
    expect(JSON.parse((await operate([reserve])).rows[0].json)).toMatchObject({ status: "replayed" });

    // Now the new rules hold: a grant keeps its session, and what was forgotten stays so.
    const user = new pg.Pool({ connectionString: urlOf("first_user") });
    const ledger = postgresCreditLedger({ pool: user, schema: "first" });
    const result = await ledger.reserve({ ...request, id: "before" });
    if (!result.ok) throw new Error("Nothing is limited here.");
    await ledger.grant({ id: "g", account, window: "session", amountMicro: 7, limits: request.limits });
    await ledger.release(result.lease);
    expect((await ledger.balance(account, request.limits)).windows.session).toMatchObject({
      heldMicro: 0,
      bonusMicro: 7,
    });
    // What the last version added is for the same role.
    const { accounts, keys } = postgresStores({ pool: user, schema: "first" });
    await accounts.put({ id: account, plan: "pro" });
    expect(await accounts.update(account, { status: "suspended" })).toMatchObject({ plan: "pro", status: "suspended" });
    await keys.insert({ id: "key_1", hash: "hash_1", hint: "sk-…", account, createdAt: 1 });
    expect(await keys.find("hash_1")).toMatchObject({ account });
    const late = await ledger.reserve({ ...request, id: "late" });
    if (!late.ok) throw new Error("Nothing is limited here.");
    await ledger.forget(account);
    expect((await ledger.settle(late.lease, { amountMicro: 3 })).status).toBe("duplicate");
    expect((await ledger.history?.({ account }))?.entries).toEqual([]);
    expect((await pool.query("select from first.account")).rowCount).toBe(0);
    await user.end();
  });

  it("take on keys without the newer members, while a process of the version before goes on", async () => {
    await loadEmptyPostgres(pool, "infergate", "b967f53");
    await pool.query(readFileSync(new URL("fixtures/keys-4.sql", import.meta.url), "utf8"));
    const change = (name: string) => JSON.stringify({ name });
    await expectKeysOfBefore(postgresStores({ pool }).keys, {
      insert: () =>
        pool.query(
          `insert into infergate.api_key
            (id, hash, account, plan, hint, name, created_at, expires_at, revoked_at, models, anchor)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::jsonb, $11) on conflict do nothing`,
          ["key_late", hashKey("sk-late"), "acct_1", "pro", "sk-…late", null, 9, ...Array(4).fill(null)],
        ),
      rename: ({ id }, name) =>
        pool.query(
          `update infergate.api_key set
            plan = case when change ? 'plan' then change->>'plan' else plan end,
            name = case when change ? 'name' then change->>'name' else name end
          from (select $2::text::jsonb as change) as given where id = $1`,
          [id, change(name)],
        ),
      find: async (hash) => (await pool.query("select id from infergate.api_key where hash = $1", [hash])).rows[0]?.id,
    });
  });

  it("take on keys and accounts without caps and rates, while a process of the version before goes on", async () => {
    await pool.query("drop schema infergate cascade");
    await loadEmptyPostgres(pool, "infergate", "fa9aa77");
    await pool.query(readFileSync(new URL("fixtures/stores-5.sql", import.meta.url), "utf8"));
    await expectStoresOfBefore(postgresStores({ pool }), {
      insert: () =>
        pool.query(
          `insert into infergate.api_key
            (id, hash, account, plan, hint, name, created_at, expires_at, revoked_at, models, anchor, enabled, metadata,
              last_used_at)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::jsonb, $11, $12, $13::text::jsonb, $14)
          on conflict do nothing`,
          [
            ...["key_late", hashKey("sk-late"), "acct_1", "pro", "sk-…late", null, 9, ...Array(5).fill(null)],
            ...['{"team":"late"}', null],
          ],
        ),
      rename: ({ id }, name) =>
        pool.query(
          `update infergate.api_key set
            plan = case when change ? 'plan' then change->>'plan' else plan end,
            name = case when change ? 'name' then change->>'name' else name end,
            metadata = case when change ? 'metadata' then nullif(change->'metadata', 'null') else metadata end
          from (select $2::text::jsonb as change) as given where id = $1`,
          [id, JSON.stringify({ name })],
        ),
      suspend: ({ id, plan }) =>
        pool.query(
          `insert into infergate.account_record as stored (id, plan, anchor, status, message, metadata)
          values ($1, $2, null, 'suspended', null, null)
          on conflict (id) do update set
            plan = excluded.plan, anchor = excluded.anchor, status = excluded.status, metadata = excluded.metadata`,
          [id, plan],
        ),
      forget: (id) => pool.query("delete from infergate.account_record where id = $1", [id]),
    });
  });

  it("bring the rule for moved anchors to a schema of the version before", async () => {
    // There a week that began later replaced an open one.
    await loadEmptyPostgres(pool, "moved", "c216200");
    await runMigrations(pool, "moved");
    const ledger = postgresCreditLedger({ pool, schema: "moved" });
    const result = await ledger.reserve(spend(5));
    if (!result.ok) throw new Error("Nothing is limited here.");
    await ledger.settle(result.lease, { amountMicro: 5 });
    const { session, week, month } = result.lease.limits;
    const [, start, end] = week.bounds;
    const moved = [start - 1000, start + 1000, end + 1000, end + 2000] as const;
    const { windows } = await ledger.balance("a", { session, week: { ...week, bounds: moved }, month });
    expect(windows.week).toMatchObject({ usedMicro: 5, startsAt: start, resetsAt: end });
  });

  it("give what they add to those who may execute what was there, and to nobody else", async () => {
    await loadEmptyPostgres(pool, "private", "c2fa40a");
    await pool.query(`
      create role "Private user" login;
      create role stranger;
      revoke execute on all functions in schema private from public;
      grant usage on schema private to "Private user", stranger;
      grant select, insert, update, delete on all tables in schema private to "Private user";
      grant execute on all functions in schema private to "Private user";`);
    await runMigrations(pool, "private");
    const { rows } = await pool.query(`
      select proname from pg_proc where pronamespace = 'private'::regnamespace
      and (has_function_privilege('stranger', oid, 'execute') or not has_function_privilege('Private user', oid, 'execute'))`);
    expect(rows).toEqual([]);

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
