import type { Pool } from "pg";
import { callsPerSum, dayMs, month } from "./month.js";

/** Makes the journal and all sums of a month by SQL, and a day more at each end: months of other time zones lie aside. */
export async function makeMonth(pool: Pool): Promise<void> {
  const { accounts, first, last } = month;
  await addCalls(pool, first - 1, last, (last + 1) * dayMs);
  await pool.query(
    `insert into infergate.usage_sum (account, day, tag_set, digest, model, key_id, prepaid, tags, plan, target, requests,
       micro, input, cached_input, cache_write, output, reasoning, cost, costed)
     select 'acct_' || n, day, infergate.tag_set_of(tags), infergate.sum_digest(model, key_id, false, plan, target), model,
       key_id, false, tags, plan, target, $4::int, $4::int * 1000, $4::int * 800, 0, 0, $4::int * 250, 0, $4::int * 600,
       $4::int * 1000
     from generate_series($1::int - 1, $2::int) as day, generate_series(1, $3::int) as n, generate_series(1, 3) as sum, ${names}`,
    [first, last, accounts, callsPerSum],
  );
  await addQuarters(pool, 0);
  for (const day of [first - 1, first, last - 1, last]) await runTotals(pool, day);
  await pool.query("vacuum analyze");
}

/** Adds the calls of today so far: of today, there are no sums by day yet. */
export async function addToday(pool: Pool): Promise<void> {
  const today = month.last + 1;
  await addCalls(pool, today, today, Date.now());
  await addQuarters(pool, today * dayMs);
  await pool.query("vacuum analyze");
}

/** Of each row that has a day, an account `n`, and a `sum` of its three: what its calls carry. */
const names = `lateral (select 'acme/model-' || (n + sum) % 10 as model, 'key_' || n as key_id, 'plan-' || n % 3 as plan,
  'openai/model-' || (n + sum) % 10 as target, jsonb_build_object('tag.team', 'team-' || n % 7) as tags) as names`;

async function addCalls(pool: Pool, from: number, to: number, end: number): Promise<void> {
  await pool.query(
    `insert into infergate.entry (account, at, id, kind, amount, starts, tags, reserved, first_expires_at, ends)
     select 'acct_' || n, day * 86400000::bigint + (n * 7919 + (call * 3 + sum) * 2400011::bigint) % 86400000 as at,
       'call ' || day || ' ' || n || ' ' || sum || ' ' || call, 'charge', 1000, '{1,2,3}',
       tags || jsonb_build_object('keyId', key_id, 'model', model, 'plan', plan, 'target', target, 'input', 800,
         'output', 250, 'costMicro', 600), 2000, 1, '{1,2,3}'
     from generate_series($1::int, $2::int) as day, generate_series(1, $4::int) as call,
       generate_series(1, $3::int) as n, generate_series(1, 3) as sum, ${names}
     where day * 86400000::bigint + (n * 7919 + (call * 3 + sum) * 2400011::bigint) % 86400000 < $5
     -- As calls come.
     order by 2`,
    [from, to, month.accounts, callsPerSum, end],
  );
}

async function addQuarters(pool: Pool, from: number): Promise<void> {
  await pool.query(
    `insert into infergate.usage_quarter
     select at / 900000, 0, infergate.quarter_digest(model, plan, target, false, tags), model, plan, target, false, tags,
       count(*), sum(1000), sum(800), 0, 0, sum(250), 0, sum(600), sum(1000), 0, 0, 0, 0
     from (
       select at, tags->>'model' as model, tags->>'plan' as plan, tags->>'target' as target,
         jsonb_build_object('tag.team', tags->'tag.team') as tags
       from infergate.entry where at >= $1
     ) as entry group by 1, model, plan, target, tags`,
    [from],
  );
}

/** Makes the running totals of a day, as the ledger does beside its operations. Months of time zones divide four days. */
async function runTotals(pool: Pool, day: number): Promise<void> {
  await pool.query("update infergate.usage_running_until set day = $1, account = ''", [day]);
  const more = `select from infergate.usage_sum as sum, infergate.usage_running_until as until
    where sum.day = until.day and sum.account > until.account limit 1`;
  while ((await pool.query(more)).rows.length > 0) await pool.query("select infergate.run_totals(10000)");
}
