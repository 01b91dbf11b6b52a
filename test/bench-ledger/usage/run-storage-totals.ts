/**
 * Measures how long a ledger over PostgreSQL's storage adds up a month of 10,000 accounts and 10 million calls. The sums have the
 * whole month, made by SQL; the journal is empty, since no question divides a quarter of an hour.
 * Flags: --accounts 10000  --days 30  --runs 5
 */
import pg from "pg";
import { storageCreditLedger } from "../../../src/ledger/storage/storage-credit-ledger.js";
import { PostgresStorage } from "../../../src/postgres/storage/postgres-storage.js";
import { countColumns, shortest } from "../../../src/postgres/storage/storage-tables.js";
import { createStorage } from "../../postgres/storage/create-storage.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { callsPerSum, dayMs, measureMonth, month } from "./month.js";

const { accounts, first, last } = month;
const server = new TemporaryServer({ shared_buffers: "512MB" });
await server.create();
const pool = new pg.Pool({ connectionString: server.url, max: 1 });
try {
  await pool.query("create schema infergate");
  await pool.query(
    "create function infergate.clock_ms() returns bigint language sql as 'select (extract(epoch from clock_timestamp()) * 1000)::bigint'",
  );
  await createStorage(pool, "infergate");
  const began = performance.now();
  await makeMonth();
  console.log(`The month was made in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  await measureMonth(storageCreditLedger(new PostgresStorage(pool, "infergate")));
} finally {
  await pool.end();
  await server.remove();
}

/** A day more at each end: months of other time zones lie aside. */
async function makeMonth(): Promise<void> {
  await pool.query(/* sql */ `
    insert into infergate.kept_sum_name
    select n || ' ' || sum, 'acct_' || n, '"plan-' || n % 3 || '"', '"acme/model-' || (n + sum) % 10 || '"',
      '"openai/model-' || (n + sum) % 10 || '"', '"key_' || n || '"', 'plan', '[["team","team-' || n % 7 || '"]]'
    from generate_series(1, ${accounts}) as n, generate_series(1, 3) as sum`);
  const counted: Record<string, string> = {
    c1: "calls",
    c2: "calls * 1000",
    c3: "calls * 800",
    c6: "calls * 250",
    c18: "calls * 600",
    c19: "calls * 1000",
  };
  const counts = countColumns.map((name) => counted[name] ?? "null").join(", ");
  for (let day = first - 1; day <= last; day++) {
    await pool.query(/* sql */ `
      insert into infergate.${shortest.table}
      select n || ' ' || sum, begins, ${counts} from (
        select n, sum, at / ${shortest.lengthMs} * ${shortest.lengthMs} as begins, count(*) as calls
        from (
          select n, sum, ${day * dayMs}::bigint + (n * 7919 + (call * 3 + sum) * 2400011) % ${dayMs} as at
          from generate_series(1, ${accounts}) as n, generate_series(1, 3) as sum, generate_series(1, ${callsPerSum}) as call
        ) as calls
        group by 1, 2, 3
      ) as sums
      order by begins`);
  }
  await pool.query("vacuum analyze");
  const rollUp = "select infergate.roll_up_kept() as more";
  while ((await pool.query(rollUp)).rows[0].more);
  await pool.query("vacuum analyze");
}
