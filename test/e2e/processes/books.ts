import type { Stores } from "../../../examples/demo/open-stores.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { LedgerEntry } from "../../../src/ledger/credit-ledger.js";
import { foldUse } from "../../../src/testing/credit-ledger-journal/journal-tests.js";
import { journalOf } from "../../support/journal-of.js";

/** What a store shows of an account, whose plan limits its session alone. */
export interface Books {
  /** Of the session that is open. */
  used: number;
  /** What the journal shows of the same session. */
  booked: number;
  held: number;
  journal: readonly LedgerEntry[];
  /** What each request's entries add up to; those that come to nothing are left out. */
  charges: ReadonlyMap<string, number>;
}

export async function readBooks({ ledger }: Stores, account: string): Promise<Books> {
  const credits = { session: null, week: null, month: null };
  const limits = windowLimits({ credits, sessionMs: 5 * 3_600_000, now: Date.now() });
  const { windows } = await ledger.balance(account, limits);
  const journal = await journalOf(ledger, account);
  const { usedMicro, heldMicro, startsAt } = windows.session;
  const booked = foldUse([...journal].reverse(), "session", startsAt);
  return { used: usedMicro, booked, held: heldMicro, journal, charges: sumById(journal) };
}

function sumById(journal: readonly LedgerEntry[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { id, amountMicro } of journal) sums.set(id, (sums.get(id) ?? 0) + amountMicro);
  return new Map([...sums].filter(([, sum]) => sum !== 0));
}
