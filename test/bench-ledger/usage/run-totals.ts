/**
 * Measures how long the PostgreSQL ledger adds up a month of 10,000 accounts and 10 million calls. The journal and all sums
 * have the whole month, made by SQL. No store is compared with, so there is no target.
 * Flags: --accounts 10000  --days 30  --runs 5
 */
import pg from "pg";
import { postgresCreditLedger } from "../../../src/postgres/postgres-credit-ledger.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { callsPerSum, measureMonth, month } from "./month.js";

const { accounts, days, first, last } = month;
const server = new TemporaryServer({ jit: "on", shared_buffers: "512MB" });
await server.create();
const pool = new pg.Pool({ connectionString: server.url, max: 1 });
try {
  const ledger = postgresCreditLedger({ pool });
  await ledger.history?.({ account: "nobody" });
  // A day more at each end: months of other time zones lie aside.
  const names = `lateral (select 'acme/model-' || (n + sum) % 10 as model, 'key_' || n as key_id, 'plan-' || n % 3 as plan,
    'openai/model-' || (n + sum) % 10 as target, jsonb_build_object('tag.team', 'team-' || n % 7) as tags) as names`;
  await pool.query(
    `insert into infergate.entry (account, at, id, kind, amount, starts, tags, reserved, first_expires_at, ends)
     select 'acct_' || n, day * 86400000::bigint + (n * 7919 + (call * 3 + sum) * 2400011::bigint) % 86400000,
       'call ' || day || ' ' || n || ' ' || sum || ' ' || call, 'charge', 1000, '{1,2,3}',
       tags || jsonb_build_object('keyId', key_id, 'model', model, 'plan', plan, 'target', target, 'input', 800,
         'output', 250, 'costMicro', 600), 2000, 1, '{1,2,3}'
     from generate_series($1::int - 1, $2::int) as day, generate_series(1, $4::int) as call,
       generate_series(1, $3::int) as n, generate_series(1, 3) as sum, ${names}
     -- As calls come.
     order by 2`,
    [first, last, accounts, callsPerSum],
  );
  await pool.query(
    `insert into infergate.usage_sum (account, day, tag_set, digest, model, key_id, prepaid, tags, plan, target, requests,
       micro, input, cached_input, cache_write, output, reasoning, cost, costed)
     select 'acct_' || n, day, infergate.tag_set_of(tags), infergate.sum_digest(model, key_id, false, plan, target), model,
       key_id, false, tags, plan, target, $4::int, $4::int * 1000, $4::int * 800, 0, 0, $4::int * 250, 0, $4::int * 600,
       $4::int * 1000
     from generate_series($1::int - 1, $2::int) as day, generate_series(1, $3::int) as n, generate_series(1, 3) as sum, ${names}`,
    [first, last, accounts, callsPerSum],
  );
  await pool.query(
    `insert into infergate.usage_quarter
     select at / 900000, 0, infergate.quarter_digest(model, plan, target, false, tags), model, plan, target, false, tags,
       count(*), sum(1000), sum(800), 0, 0, sum(250), 0, sum(600), sum(1000), 0, 0, 0, 0
     from (
       select at, tags->>'model' as model, tags->>'plan' as plan, tags->>'target' as target,
         jsonb_build_object('tag.team', tags->'tag.team') as tags
       from infergate.entry
     ) as entry group by 1, model, plan, target, tags`,
  );
  const began = performance.now();
  for (const day of [first - 1, first, last - 1, last]) await runTotals(day);
  console.log(`Running totals of four days: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  await pool.query("vacuum analyze");
  const { rows } = await pool.query("select count(*)::int as calls from infergate.entry");
  console.log(`${accounts} accounts, ${days} days and one at each end: ${rows[0].calls} calls`);
  await measureMonth(ledger);
  await ledger.close();
} finally {
  await pool.end();
  await server.remove();
}

/** Makes the running totals of a day, as the ledger does beside its operations. Months of time zones divide four days. */
async function runTotals(day: number): Promise<void> {
  await pool.query("update infergate.usage_running_until set day = $1, account = ''", [day]);
  const more = `select from infergate.usage_sum as sum, infergate.usage_running_until as until
    where sum.day = until.day and sum.account > until.account limit 1`;
  while ((await pool.query(more)).rows.length > 0) await pool.query("select infergate.run_totals(10000)");
}
