import { mayNeedLot } from "../ledger/limits/prepaid.js";
import type { Account, Hold } from "./account.js";

/**
 * Up to which end expired lots lapse: up to the earliest admission of an open call that found prepaid credits. Where that
 * is before the end of the first lot, nothing lapses. Then the account remembers one call that may need that lot, and looks at
 * the others only when that one has ended. It is the last one by its id: ids say nothing of which call ends first, so a
 * thousand calls are looked at some seven times until all have ended, and not a thousand times.
 *
 * @param firstEnd - of the lot that expires first.
 */
export function lapseUntil(account: Account, firstEnd: number, now: number): number {
  const { neededBy } = account;
  if (neededBy !== undefined && mayNeedLot(neededBy.part, firstEnd)) return Number.NEGATIVE_INFINITY;
  let until = now;
  let last: Hold | undefined;
  for (const hold of account.holds) {
    until = Math.min(until, hold.part?.prepaidAt ?? now);
    if (mayNeedLot(hold.part, firstEnd) && (last === undefined || hold.id > last.id)) last = hold;
  }
  account.neededBy = last;
  return until;
}
