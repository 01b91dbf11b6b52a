import { dayMs } from "./windows.js";

/**
 * How long entries of a journal are kept, in milliseconds. Default: 400 days, which is some 13 months.
 *
 * @throws RangeError when it is less than a day.
 */
export function checkedRetention(retentionMs = 400 * dayMs): number {
  if (Number.isSafeInteger(retentionMs) && retentionMs >= dayMs) return retentionMs;
  throw new RangeError(`retentionMs must be a whole number of at least ${dayMs}, not ${retentionMs}.`);
}
