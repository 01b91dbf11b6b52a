import { type Lease, LedgerInputError, type WindowLimits } from "./credit-ledger.js";

/** Checks the numbers of a lease, for a store that writes them down. @throws LedgerInputError */
export function checkLeaseTimes({
  amountMicro,
  expiresAt,
  starts,
  ends,
  prepaidAt = 0,
  prepaidMicro = 0,
  caps = [],
}: Lease): void {
  const areWhole =
    Number.isSafeInteger(amountMicro) &&
    Number.isSafeInteger(expiresAt) &&
    Number.isSafeInteger(prepaidAt) &&
    Number.isSafeInteger(prepaidMicro) &&
    areWholeTimes(starts) &&
    areWholeTimes(ends) &&
    caps.every(({ start, end }) => Number.isSafeInteger(start) && Number.isSafeInteger(end));
  if (areWhole) return;
  throw new LedgerInputError("lease must be as it was given out, with times in whole milliseconds.");
}

/** A ledger gets leases from its host, who may have lost a part of one. */
function areWholeTimes(times: Lease["starts"] | undefined): boolean {
  return (
    times !== undefined &&
    times !== null &&
    Number.isSafeInteger(times.session) &&
    Number.isSafeInteger(times.week) &&
    Number.isSafeInteger(times.month)
  );
}

/** Checks where weeks and months begin, for a store that writes it down. @throws LedgerInputError */
export function checkBounds({ week, month }: WindowLimits): void {
  if ([...week.bounds, ...month.bounds].every(Number.isSafeInteger)) return;
  throw new LedgerInputError("limits: bounds must be whole milliseconds.");
}
