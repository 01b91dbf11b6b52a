import type pg from "pg";
import type { Clock } from "../../src/ledger/clock.js";
import { runMigrations } from "../../src/postgres/migrate.js";
import type { PostgresPool } from "../../src/postgres/postgres-pool.js";
import { migrationsSql } from "../../src/postgres/schema-sql.js";

/** Stands in the place of the database's clock: what the test last set. */
const testClock = /* sql */ `
create table infergate.test_clock (now_ms bigint not null);
insert into infergate.test_clock values (0);
create function infergate.clock_ms() returns bigint
language sql volatile as $$
  select now_ms from infergate.test_clock
$$;
`;

let serial = 0;

/** A fresh schema whose clock is a test's, and the pool that sets it before each statement. */
export async function shiftedSchema(
  pool: PostgresPool,
  clock: Clock,
): Promise<{ pool: PostgresPool; schema: string }> {
  const schema = `shifted_${process.pid}_${++serial}`;
  await runMigrations(pool, schema, migrationsSql(testClock));
  let told = 0;
  const shifted: PostgresPool = {
    async query(text, values) {
      const now = clock.now();
      if (now !== told) {
        told = now;
        await pool.query(`update ${schema}.test_clock set now_ms = $1`, [now]);
      }
      return pool.query(text, values);
    },
  };
  return { pool: shifted, schema };
}
