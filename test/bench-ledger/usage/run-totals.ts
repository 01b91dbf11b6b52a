/**
 * Measures how long the PostgreSQL ledger adds up a month of 10,000 accounts and 10 million calls. The journal and all sums
 * have the whole month, made by SQL. No store is compared with, so there is no target.
 * Flags: --accounts 10000  --days 30  --runs 5
 */
import { parseArgs } from "node:util";
import pg from "pg";
import { splitTime } from "../../../src/gateway/usage/split-time.js";
import type { TotalsFilter } from "../../../src/ledger/usage/usage-totals.js";
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
const last = Math.floor(Date.now() / dayMs) - 1;
const first = last - days;

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
       count(*), sum(1000), sum(800), 0, 0, sum(250), 0, sum(600), sum(1000)
     from (
       select at, tags->>'model' as model, tags->>'plan' as plan, tags->>'target' as target,
         jsonb_build_object('tag.team', tags->'tag.team') as tags
       from infergate.entry
     ) as entry group by 1, model, plan, target, tags`,
  );
  await pool.query("vacuum analyze");
  const { rows } = await pool.query("select count(*)::int as calls from infergate.entry");
  console.log(`${accounts} accounts, ${days} days and one at each end: ${rows[0].calls} calls`);
  const range = { from: first * dayMs, to: last * dayMs };
  const periods = (timeZone: string, every?: "day" | "hour") => {
    // A month as clocks there show it: so many hours aside.
    const [aside = 0] =
      splitTime({ from: range.from - dayMs / 2, to: range.from + dayMs }, { every: "day", timeZone, most: 9 })?.slice(
        1,
      ) ?? [];
    const [from, to] = [aside, aside + days * dayMs];
    return every === undefined ? [from, to] : (splitTime({ from, to }, { every, timeZone, most: 1_000 }) as number[]);
  };
  const one: TotalsFilter = { account: ["acct_7"] };
  const asked: Record<string, { periods: readonly number[]; by: readonly string[]; where?: TotalsFilter }> = {};
  for (const zone of ["UTC", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu"]) {
    asked[`${zone}, all together`] = { periods: periods(zone), by: [] };
    asked[`${zone}, by account`] = { periods: periods(zone), by: ["account"] };
    asked[`${zone}, by key of a plan`] = { periods: periods(zone), by: ["key"], where: { plan: ["plan-1"] } };
    asked[`${zone}, by day, plan, model and target`] = {
      periods: periods(zone, "day"),
      by: ["plan", "model", "target"],
    };
    asked[`${zone}, by hour and model`] = { periods: periods(zone, "hour"), by: ["model"] };
    asked[`${zone}, by hour and tag, of a plan`] = {
      periods: periods(zone, "hour"),
      by: ["tag.team"],
      where: { plan: ["plan-1"] },
    };
    asked[`${zone}, one account by hour and model`] = { periods: periods(zone, "hour"), by: ["model"], where: one };
    asked[`${zone}, one account by day, key and tag`] = {
      periods: periods(zone, "day"),
      by: ["key", "tag.team"],
      where: one,
    };
  }
  for (const [name, request] of Object.entries(asked)) {
    const times: number[] = [];
    let records = 0;
    for (let run = 0; run < runs; run++) {
      const begin = performance.now();
      records = (await ledger.totals?.({ where: {}, ...request }))?.length ?? 0;
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
