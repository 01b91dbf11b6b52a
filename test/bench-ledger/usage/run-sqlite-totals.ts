/**
 * Measures how long the SQLite ledger adds up a month of 10,000 accounts and 10 million calls. The journal and the sums have the
 * whole month, made by SQL. It prints milliseconds, and the longest time that the event loop was blocked.
 * Flags: --accounts 10000  --days 30  --runs 5
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { splitTime } from "../../../src/gateway/usage/split-time.js";
import type { TotalsFilter } from "../../../src/ledger/usage/usage-totals.js";
import { sqliteCreditLedger } from "../../../src/sqlite/sqlite-credit-ledger.js";
import { DatabaseFolder } from "../../sqlite/open-database.js";
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

const folder = new DatabaseFolder();
const database = folder.open();
try {
  const ledger = sqliteCreditLedger({ database });
  fill();
  const range = { from: first * dayMs, to: last * dayMs };
  const periods = (timeZone: string, every?: "day" | "hour") => {
    // A month as clocks there show it: so many hours aside.
    const around = { from: range.from - dayMs / 2, to: range.from + dayMs };
    const [aside = 0] = splitTime(around, { every: "day", timeZone, most: 9 })?.slice(1) ?? [];
    const [from, to] = [aside, aside + days * dayMs];
    return every === undefined ? [from, to] : (splitTime({ from, to }, { every, timeZone, most: 1_000 }) as number[]);
  };
  const one: TotalsFilter = { account: ["acct_7"] };
  const ofPlan: TotalsFilter = { plan: ["plan-1"] };
  for (const zone of ["UTC", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu"]) {
    await measure(`${zone}, all together`, { periods: periods(zone), by: [] });
    await measure(`${zone}, by day, plan, model and target`, {
      periods: periods(zone, "day"),
      by: ["plan", "model", "target"],
    });
    await measure(`${zone}, by hour and model`, { periods: periods(zone, "hour"), by: ["model"] });
    await measure(`${zone}, by hour and tag, of a plan`, {
      periods: periods(zone, "hour"),
      by: ["tag.team"],
      where: ofPlan,
    });
    await measure(`${zone}, by account`, { periods: periods(zone), by: ["account"] });
    await measure(`${zone}, by key of a plan`, { periods: periods(zone), by: ["key"], where: ofPlan });
    await measure(`${zone}, one account by hour and model`, {
      periods: periods(zone, "hour"),
      by: ["model"],
      where: one,
    });
    await measure(`${zone}, one account by day, key and tag`, {
      periods: periods(zone, "day"),
      by: ["key", "tag.team"],
      where: one,
    });
  }

  async function measure(
    name: string,
    request: { periods: readonly number[]; by: readonly string[]; where?: TotalsFilter },
  ): Promise<void> {
    const times: number[] = [];
    let records = 0;
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    for (let run = 0; run < runs; run++) {
      const begin = performance.now();
      records = (await ledger.totals?.({ where: {}, ...request }))?.length ?? 0;
      times.push(performance.now() - begin);
    }
    delay.disable();
    const [least, middle] = [Math.min(...times), median(times)].map((time) => time.toFixed(0));
    console.log(
      `${name}: ${records} records, ${least} ms at the least, median ${middle} ms, longest block ${(delay.max / 1e6).toFixed(0)} ms`,
    );
  }
} finally {
  folder.remove();
}

/** A day more at each end: months of other time zones lie aside. */
function fill(): void {
  const count = (name: string, from: number, to: number) =>
    `${name} (${name}) AS (SELECT ${from} UNION ALL SELECT ${name} + 1 FROM ${name} WHERE ${name} < ${to})`;
  const names = `'"plan-' || (n % 3) || '"' AS plan, '"acme/model-' || ((n + sum) % 10) || '"' AS model,
    '"openai/model-' || ((n + sum) % 10) || '"' AS target, '"key_' || n || '"' AS key, '{"team":"team-' || (n % 7) || '"}' AS tags`;
  const insertDay = (day: number) => `
    INSERT INTO infergate_entry (id, part, account, kind, at, sequence, amount, month_start, tags)
    WITH RECURSIVE ${count("n", 1, accounts)}, ${count("sum", 1, 3)}, ${count("call", 1, callsPerSum)}
    SELECT 'call ' || ${day} || ' ' || n || ' ' || sum || ' ' || call, 0, 'acct_' || n, 'charge',
      ${day} * ${dayMs} + (n * 7919 + (call * 3 + sum) * 2400011) % ${dayMs},
      ${(day - first + 1) * callsPerSum * 3} + (sum - 1) * ${callsPerSum} + call, 1000, 0,
      '{"keyId":' || key || ',"model":' || model || ',"plan":' || plan || ',"target":' || target
        || ',"input":800,"output":250,"costMicro":600,"tag.team":"team-' || (n % 7) || '"}'
    FROM (SELECT *, ${names} FROM n, sum, call)
    ORDER BY 1;`;
  const counts = (calls: string) =>
    `${calls}, ${calls} * 1000, ${calls} * 800, 0, 0, ${calls} * 250, 0, ${calls} * 600, ${calls} * 1000`;
  const began = performance.now();
  database.exec("PRAGMA cache_size = -500000; UPDATE infergate_totals SET since = 0, until = 0");
  for (let day = first - 1; day <= last; day++) {
    database.exec(`BEGIN; ${insertDay(day)} COMMIT`);
  }
  database.exec(`
    BEGIN;
    INSERT INTO infergate_account (id, sequence, session_used, session_held, session_bonus, week_used, week_held, week_bonus,
        month_used, month_held, month_bonus)
      WITH RECURSIVE ${count("n", 1, accounts)}
      SELECT 'acct_' || n, ${(days + 3) * callsPerSum * 3}, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM n;
    INSERT INTO infergate_usage_account_day
      WITH RECURSIVE ${count("n", 1, accounts)}, ${count("sum", 1, 3)}, ${count("day", first - 1, last)}
      SELECT 'acct_' || n, day, plan, model, target, key, 'plan', ${counts(String(callsPerSum))}
      FROM (SELECT *, ${names} FROM n, sum, day) ORDER BY 1, 2;
    INSERT INTO infergate_usage_quarter
      SELECT quarter, tags -> '$.plan', tags -> '$.model', tags -> '$.target', 'plan',
        json_object('team', tags ->> '$."tag.team"'), ${counts("calls")}
      FROM (SELECT at / 900000 AS quarter, tags, count(*) AS calls FROM infergate_entry GROUP BY 1, 2)
      WHERE TRUE
      ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, charged = charged + excluded.charged,
        input = input + excluded.input, output = output + excluded.output, cost = cost + excluded.cost,
        costed = costed + excluded.costed;
    UPDATE infergate_totals SET until = ${(last + 1) * dayMs};
    COMMIT`);
  database.exec("PRAGMA cache_size = -2000");
  const calls = (days + 2) * accounts * callsPerSum * 3;
  console.log(
    `${accounts} accounts, ${days} days and one at each end: ${calls} calls, made in ${((performance.now() - began) / 1000).toFixed(0)} s`,
  );
}
