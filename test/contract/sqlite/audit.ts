import { expect } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import {
  type CreditLedger,
  type LedgerEntry,
  type WindowLimits,
  windowNames,
} from "../../../src/ledger/credit-ledger.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { foldUse } from "../../../src/testing/credit-ledger-journal/journal-tests.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { journalOf } from "../../support/journal-of.js";

export const account = "a";

export function limitsAt(now: number): WindowLimits {
  const credits = { session: null, week: null, month: null };
  return windowLimits({ credits, sessionMs: 18_000_000, now });
}

/** The oldest first. */
export async function journalSinceBegin(ledger: CreditLedger): Promise<LedgerEntry[]> {
  return (await journalOf(ledger, account)).reverse();
}

/** Counters, holds and journal agree, and the file is sound. @returns what is used and held. */
export async function audit(database: SqliteDatabase, now: number): Promise<{ used: number; held: number }> {
  const ledger = sqliteCreditLedger({ database, clock: new ManualClock(now) });
  const { windows } = await ledger.balance(account, limitsAt(now));
  const entries = await journalSinceBegin(ledger);
  // What prepaid credits hold of a call is not held in windows.
  const prepaid = "coalesce(held_limits ->> '$.part.prepaidMicro', 0)";
  const holds = database
    .prepare(`
      SELECT coalesce(sum(iif(${prepaid} > 0, reserved - ${prepaid}, amount)), 0) AS held
      FROM infergate_entry WHERE account = ? AND kind = 'hold'`)
    .get(account) as { held: number };
  for (const window of windowNames) {
    const { usedMicro, heldMicro, startsAt } = windows[window];
    expect({ window, used: usedMicro, held: heldMicro }).toEqual({
      window,
      used: foldUse(entries, window, startsAt),
      held: holds.held,
    });
  }
  expect(database.prepare("PRAGMA integrity_check").all()).toMatchObject([{ integrity_check: "ok" }]);
  const { usedMicro, heldMicro } = windows.month;
  return { used: usedMicro, held: heldMicro };
}
