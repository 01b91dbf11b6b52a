/**
 * Measures `CreditLedger.usage` of SQLite: 400 days of one account. It prints milliseconds, and the longest time that
 * the event loop was blocked.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { sumUp } from "../../contract/sqlite/summing-ledger.js";

const day = 86_400_000;
const days = 400;
const firstDay = 20_000;
const entriesADay = 25_000;

/** The journal has the first and the last day. */
function fill(database: SqliteDatabase, sumsADay: number): void {
  const entries = (from: number, sequence: number) => `
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${entriesADay - 1})
    INSERT INTO infergate_entry (id, part, account, kind, at, sequence, amount, month_start, tags)
    SELECT lower(hex(randomblob(12))), 0, 'a', 'charge', ${from} + i * ${day / entriesADay}, ${sequence} + i, 5, 0,
      json_object('keyId', 'key_' || (i % 10), 'model', 'model_' || (i % ${sumsADay / 10}), 'input', 1200, 'cachedInput', 0,
        'output', 300, 'reasoning', 0, 'source', 'provider', 'price', '0.15/0.075/0.6/0.6/0') FROM n;`;
  database.exec(`
    BEGIN;
    ${entries(firstDay * day, 1)}
    ${entries((firstDay + days - 1) * day, entriesADay + 1)}
    INSERT INTO infergate_account (id, sequence, session_used, session_held, session_bonus, week_used, week_held,
      week_bonus, month_used, month_held, month_bonus) VALUES ('a', ${2 * entriesADay}, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    COMMIT`);
  sumUp(database, "a");
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT ${sumsADay} UNION ALL SELECT i + 1 FROM n WHERE i < ${(days - 1) * sumsADay - 1})
    INSERT INTO infergate_usage SELECT 'a', ${firstDay} + i / ${sumsADay}, '', '"model_' || (i % ${sumsADay / 10}) || '"',
      '"key_' || (i / ${sumsADay / 10} % 10) || '"', 'plan', 250, 1250, 300000, 0, 0, 75000, 0, 0, 0, 0, 0, 0, 0 FROM n`);
}

async function measure(title: string, work: () => Promise<readonly unknown[] | undefined>): Promise<void> {
  const times: number[] = [];
  let rows = 0;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  for (let round = 0; round < 6; round++) {
    if (round === 1) delay.enable();
    const started = performance.now();
    rows = (await work())?.length ?? 0;
    if (round > 0) times.push(performance.now() - started);
  }
  delay.disable();
  times.sort((one, other) => one - other);
  const figures = `median ${times[2]?.toFixed(0)} ms, best ${times[0]?.toFixed(0)} ms`;
  console.log(`${title}: ${rows} rows, ${figures}, longest block ${(delay.max / 1e6).toFixed(1)} ms`);
}

for (const sumsADay of [10, 100]) {
  const folder = new DatabaseFolder();
  const database = folder.open();
  try {
    const ledger = sqliteCreditLedger({ database });
    fill(database, sumsADay);
    console.log(`${days} days of ${sumsADay} sums, ${entriesADay} entries a day`);
    const usage = (by: readonly string[], from?: number, to?: number) => () =>
      ledger.usage?.({ account: "a", by, from, to }) ?? Promise.resolve([]);
    const [start, end] = [firstDay * day, (firstDay + days) * day];
    await measure("by day, model and key, whole days", usage(["day", "model", "key"]));
    await measure("by model, whole days", usage(["model"]));
    await measure("by day, whole days", usage(["day"]));
    await measure("by day, from the second day until now", usage(["day"], start + day, end - 1));
    await measure("by day, an hour less at both ends", usage(["day"], start + day - day / 24, end - day + day / 24));
    await measure("by day, half a day at both ends", usage(["day"], start + day / 2, end - day / 2));
    const part = day / 2 + day / 48;
    await measure("by day, half a day and half an hour at both ends", usage(["day"], start + part, end - part));
  } finally {
    folder.remove();
  }
}
