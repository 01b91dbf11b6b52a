import type { Clock } from "../../../src/ledger/calendar.js";
import type { PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { inSchema, runMigrations } from "../../../src/stores/postgres/schema/run-migrations.js";

/** Stand in the place of the database's clock: what a test last set. Each by itself, since not every driver takes several. */
const testClock = [
  "create table infergate.test_clock (now_ms bigint not null)",
  "insert into infergate.test_clock values (0)",
  /* sql */ `
create or replace function infergate.clock_ms() returns bigint
language sql volatile as $$
  select now_ms from infergate.test_clock
$$`,
];

/** Where a schema's clock stands, or soon will, and by whose clock. */
interface Told {
  readonly clock: Clock;
  readonly now: number;
  readonly done: Promise<unknown>;
}

const told = new Map<string, Told>();
/** Clocks in whose place another has come. What their ledgers still do in the background moves no clock. */
const retired = new WeakSet<Clock>();

/** Makes a schema whose clock stands where a test puts it. */
export async function createShiftedSchema(pool: PostgresPool, schema: string): Promise<void> {
  // Another server may have had one of this name.
  told.delete(schema);
  await runMigrations(pool, schema);
  await setTestClock(pool, schema);
}

/** Puts a clock in the place of a schema's, whatever its version is. */
export async function setTestClock(pool: PostgresPool, schema: string): Promise<void> {
  for (const sql of testClock) await pool.query(inSchema(sql, schema));
}

/** A pool that sets the schema's clock before its statements, where the clock has moved. */
export function shiftedPool(pool: PostgresPool, schema: string, clock: Clock): PostgresPool {
  return {
    async query(text, values) {
      const before = told.get(schema);
      const now = clock.now();
      if (!retired.has(clock) && (before?.clock !== clock || before.now !== now)) {
        if (before !== undefined && before.clock !== clock) retired.add(before.clock);
        // In a promise of its own: Neon's is lazy, and sends its statement for each that waits for it.
        const put = async () => pool.query(`update ${schema}.test_clock set now_ms = $1`, [now]);
        told.set(schema, { clock, now, done: put() });
      }
      await told.get(schema)?.done;
      return pool.query(text, values);
    },
  };
}
