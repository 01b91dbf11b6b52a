/**
 * Measures how long the SQLite ledger adds up a month of 10,000 accounts and 10 million calls. The journal and the sums have the
 * whole month, made by SQL. It prints milliseconds, and the longest time that the event loop was blocked.
 * Flags: --accounts 10000  --days 30  --runs 5
 */
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { callsPerSum, dayMs, measureMonth, month } from "./month.js";

const { accounts, days, first, last } = month;
const folder = new DatabaseFolder();
const database = folder.open();
try {
  const ledger = sqliteCreditLedger({ database });
  fill();
  await measureMonth(ledger);
} finally {
  folder.remove();
}

/** A day more at each end: months of other time zones lie aside. */
function fill(): void {
  const count = (name: string, from: number, to: number) =>
    `${name} (${name}) AS (SELECT ${from} UNION ALL SELECT ${name} + 1 FROM ${name} WHERE ${name} < ${to})`;
  const names = `'"plan-' || (n % 3) || '"' AS plan, '"acme/model-' || ((n + sum) % 10) || '"' AS model,
    '"openai/model-' || ((n + sum) % 10) || '"' AS target, '"key_' || n || '"' AS key, '{"team":"team-' || (n % 7) || '"}' AS tags`;
  const moment = `(n * 7919 + (call * 3 + sum) * 2400011) % ${dayMs}`;
  const series = "n * 3 + sum";
  const insertDay = (day: number) => `
    INSERT INTO infergate_entry (id, part, account, kind, at, sequence, amount, month_start, tags)
    WITH RECURSIVE ${count("n", 1, accounts)}, ${count("sum", 1, 3)}, ${count("call", 1, callsPerSum)}
    SELECT 'call ' || ${day} || ' ' || n || ' ' || sum || ' ' || call, 0, 'acct_' || n, 'charge',
      ${day * dayMs} + ${moment},
      ${(day - first + 1) * callsPerSum * 3} + (sum - 1) * ${callsPerSum} + call, 1000, 0,
      '{"keyId":' || key || ',"model":' || model || ',"plan":' || plan || ',"target":' || target
        || ',"input":800,"output":250,"costMicro":600,"tag.team":"team-' || (n % 7) || '"}'
    FROM (SELECT *, ${names} FROM n, sum, call)
    ORDER BY 1;
    INSERT INTO infergate_usage_series_quarter
    WITH RECURSIVE ${count("n", 1, accounts)}, ${count("sum", 1, 3)}, ${count("call", 1, callsPerSum)}
    SELECT quarter, series, ${counts("calls")} FROM (
      SELECT ${day * 96} + ${moment} / 900000 AS quarter, ${series} AS series, count(*) AS calls FROM n, sum, call GROUP BY 1, 2
    );`;
  const counts = (calls: string) =>
    `${calls}, ${calls} * 1000, ${calls} * 800, 0, 0, ${calls} * 250, 0, 0, 0, 0, 0, ${calls} * 600, ${calls} * 1000`;
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
    INSERT INTO infergate_usage_series
      WITH RECURSIVE ${count("n", 1, accounts)}, ${count("sum", 1, 3)}
      SELECT ${series}, 'acct_' || n, plan, model, target, key, 'plan' FROM (SELECT *, ${names} FROM n, sum) ORDER BY 1;
    INSERT INTO infergate_usage_series_day
      WITH RECURSIVE ${count("n", 1, accounts)}, ${count("sum", 1, 3)}, ${count("day", first - 1, last)}
      SELECT ${series}, day, ${counts(String(callsPerSum))} FROM n, sum, day ORDER BY 1, 2;
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
