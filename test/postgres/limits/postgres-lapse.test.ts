import pg from "pg";
import { expect, it } from "vitest";
import { postgresCreditLedger } from "../../../src/postgres/postgres-credit-ledger.js";
import { busyAccount } from "../../contracts/busy-account.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
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
});
