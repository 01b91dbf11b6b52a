import pg from "pg";
import { expect, it } from "vitest";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import { postgresCreditLedger } from "../../../../src/stores/postgres/postgres-credit-ledger.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";
import { busyAccount } from "../../contracts/busy-account.js";
import { createShiftedSchema, shiftedPool } from "../test-schema.js";

describeWithPostgres("PostgreSQL, prepaid credits that have expired", (server) => {
  it("have no operation look at all open calls while one of them needs them", async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    const schema = "lapse";
    await createShiftedSchema(pool, schema);
    const make = (clock: Parameters<typeof shiftedPool>[2]) => {
      return postgresCreditLedger({ pool: shiftedPool(pool, schema, clock), schema });
    };
    const { account } = await busyAccount(make, 300);
    const connection = await pool.connect();
    /** How many rows of holds this connection has read. */
    const read = async () => {
      const { rows } = await connection.query(
        "select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where schemaname = $1 and relname = 'hold'",
        [schema],
      );
      return Number(rows[0]?.read);
    };
    await connection.query("begin");
    const before = await read();
    const operations = Array.from({ length: 20 }, () => ({ op: "reset", windows: [] }));
    await connection.query(`select ${schema}.operate($1)`, [JSON.stringify([{ account: account.id, operations }])]);
    expect((await read()) - before).toBeLessThanOrEqual(2 * operations.length);
    await connection.query("rollback");
    connection.release();
    await account.ledger.close?.();
    await pool.end();
  });

  it("leave the windows of a call that they paid to its repetition", async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    const ledger = postgresCreditLedger({ pool, schema: "repeated" });
    const limits = windowLimits({
      ...{ credits: { session: null, week: 0, month: null }, sessionMs: 3_600_000, now: Date.now() },
    });
    await ledger.topUp?.({ id: "bought", account: "a", amountMicro: 100 });
    const request = { id: "paid", account: "a", amountMicro: 40, limits, leaseMs: 60_000 };
    const first = await ledger.reserve(request);
    if (!first.ok) throw new Error("So much is there.");
    expect(await ledger.settle(first.lease, { amountMicro: 35 })).toMatchObject({ prepaidMicro: 35 });
    const { starts, ends } = first.lease;
    expect(await ledger.reserve(request)).toMatchObject({ ok: true, replayed: true, lease: { starts, ends } });
    expect((await ledger.history?.({ account: "a", limit: 1 }))?.entries).toMatchObject([
      { kind: "charge", starts: {} },
    ]);
    await ledger.close?.();
    await pool.end();
  });
});
