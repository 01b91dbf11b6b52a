import type { AuditLimits } from "./audit-trail.js";

const dayMs = 86_400_000;

/** So many of the oldest may go with each entry that is kept. */
export const goneAtOnce = 64;

/** @throws RangeError when a limit is out of range. */
export function checkAuditLimits(
  { maxDays = 400, maxEntries }: AuditLimits = {},
  mostEntries = 1_000_000,
): { readonly keepMs: number; readonly maxEntries: number } {
  const most = maxEntries ?? mostEntries;
  if (!Number.isSafeInteger(maxDays) || maxDays < 1 || maxDays > 36_500) {
    throw new RangeError(`audit.maxDays must be a whole number from 1 to 36,500, not ${maxDays}.`);
  }
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new RangeError(`audit.maxEntries must be a whole number of at least 1, not ${most}.`);
  }
  return { keepMs: maxDays * dayMs, maxEntries: most };
}
