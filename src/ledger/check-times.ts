import { type Lease, LedgerInputError, type WindowLimits } from "./credit-ledger.js";

/** Checks the numbers of a lease, for a store that writes them down. @throws LedgerInputError */
export function checkLeaseTimes({ amountMicro, expiresAt, starts, ends, prepaidAt = 0, caps = [] }: Lease): void {
  const times = [starts, ends].flatMap((each) => [each?.session, each?.week, each?.month]);
  const ofCaps = caps.flatMap(({ start, end }) => [start, end]);
  if ([amountMicro, expiresAt, prepaidAt, ...times, ...ofCaps].every(Number.isSafeInteger)) return;
  throw new LedgerInputError("lease must be as it was given out, with times in whole milliseconds.");
}

/** Checks where weeks and months begin, for a store that writes it down. @throws LedgerInputError */
export function checkBounds({ week, month }: WindowLimits): void {
  if ([...week.bounds, ...month.bounds].every(Number.isSafeInteger)) return;
  throw new LedgerInputError("limits: bounds must be whole milliseconds.");
}
