/**
 * Measures how long the PostgreSQL ledger adds up a month of 10,000 accounts and 10 million calls. The journal and all sums
 * have the whole month, made by SQL. No store is compared with, so there is no target.
 * Flags: --accounts 10000  --days 30  --runs 5
 */
import pg from "pg";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { makeMonth } from "./make-month.js";
import { measureMonth, month } from "./month.js";

const { accounts, days } = month;
const server = new TemporaryServer({ jit: "on", shared_buffers: "512MB" });
await server.create();
const pool = new pg.Pool({ connectionString: server.url, max: 1 });
try {
  const ledger = postgresCreditLedger({ pool });
  await ledger.history?.({ account: "nobody" });
  const began = performance.now();
  await makeMonth(pool);
  console.log(`The month was made in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  const { rows } = await pool.query("select count(*)::int as calls from infergate.entry");
  console.log(`${accounts} accounts, ${days} days and one at each end: ${rows[0].calls} calls`);
  await measureMonth(ledger);
  await ledger.close();
} finally {
  await pool.end();
  await server.remove();
}
