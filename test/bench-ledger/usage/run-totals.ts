/**
 * Measures how long the PostgreSQL ledger adds up a month of 10,000 accounts and 10 million calls, from three sums for each
 * account and day. The journal has the calls of the last half day. No store is compared with, so there is no target.
 * Flags: --accounts 10000  --days 30  --runs 5
 */
import { parseArgs } from "node:util";
import pg from "pg";
import { postgresCreditLedger } from "../../../src/postgres/postgres-credit-ledger.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { median } from "../measure.js";

const dayMs = 86_400_000;
const callsPerSum = 11;
const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "10000" },
    days: { type: "string", default: "30" },
    runs: { type: "string", default: "5" },
  },
});
const [accounts, days, runs] = [values.accounts, values.days, values.runs].map(Number) as [number, number, number];
const last = Math.floor(Date.now() / dayMs);
const first = last - days;

const server = new TemporaryServer({ jit: "on", shared_buffers: "512MB" });
await server.create();
const pool = new pg.Pool({ connectionString: server.url, max: 1 });
try {
  const ledger = postgresCreditLedger({ pool });
  await ledger.history?.({ account: "nobody" });
  await pool.query(
    `insert into infergate.usage_sum
     select 'acct_' || n, day, '', infergate.sum_digest(model, key_id, false, plan, target), model, key_id, false, '{}',
       $4, 11000, 9000, 100, 0, 3000, 10, false, plan, target
     from generate_series($1::int, $2::int - 1) as day, generate_series(1, $3::int) as n, generate_series(1, 3) as sum,
       lateral (select 'acme/model-' || (n + sum) % 10 as model, 'key_' || n as key_id, 'plan-' || n % 3 as plan,
         'openai/model-' || (n + sum) % 10 as target) as names`,
    [first, last, accounts, callsPerSum],
  );
  await pool.query(
    `insert into infergate.entry (account, at, id, kind, amount, starts, tags, reserved, first_expires_at, ends)
     select 'acct_' || n, $1::bigint + (n * 7919 + call * 104729) % 43200000, 'call ' || n || ' ' || call, 'charge', 1000,
       '{1,2,3}', jsonb_build_object('keyId', 'key_' || n, 'model', 'acme/model-' || n % 10, 'plan', 'plan-' || n % 3,
         'target', 'openai/model-' || n % 10, 'input', 800, 'output', 250), 2000, 1, '{1,2,3}'
     from generate_series(1, $2::int) as n, generate_series(1, 16) as call`,
    [last * dayMs, accounts],
  );
  await pool.query("vacuum analyze");
  const { rows } = await pool.query(
    "select sum(requests)::float8 as calls, count(*)::int as sums from infergate.usage_sum",
  );
  console.log(`${accounts} accounts, ${days} days: ${rows[0].calls} calls in ${rows[0].sums} sums`);
  const month = [first * dayMs, last * dayMs];
  const daily = Array.from({ length: days + 1 }, (_, day) => (first + day) * dayMs);
  const toNoon = [first * dayMs, last * dayMs + dayMs / 2];
  const asked = {
    "all together": { periods: month, by: [] },
    "by plan and model": { periods: month, by: ["plan", "model"] },
    "by account": { periods: month, by: ["account"] },
    "by day and plan": { periods: daily, by: ["plan"] },
    "by model, until noon of a day": { periods: toNoon, by: ["model"] },
  };
  for (const [name, request] of Object.entries(asked)) {
    const times: number[] = [];
    let records = 0;
    for (let run = 0; run < runs; run++) {
      const begin = performance.now();
      records = (await ledger.totals?.({ ...request, where: {} }))?.length ?? 0;
      times.push(performance.now() - begin);
    }
    const [least, middle] = [Math.min(...times), median(times)].map((time) => time.toFixed(0));
    console.log(`${name}: ${records} records, ${least} ms at the least, median ${middle} ms`);
  }
  await ledger.close();
} finally {
  await pool.end();
  await server.remove();
}
