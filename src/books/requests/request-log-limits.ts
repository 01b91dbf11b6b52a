/** How much a request log keeps, and for how long. */
export interface RequestLogLimits {
  /** For how many days a line is kept, 1 to 3,650. Default: 30. */
  maxDays?: number | undefined;
  /** How many lines are kept at most; of more, those that were written first go. At least 1. */
  maxRows?: number | undefined;
  /**
   * For how many days refusals and failures are counted, 1 to 3,650. There are as many counts as `maxRows` at most: of all
   * that is alike in a minute, one for each batch. Default: 400.
   */
  countDays?: number | undefined;
}

/** All that there are. */
export const knownLogLimits: Readonly<Record<keyof RequestLogLimits, true>> = {
  maxDays: true,
  maxRows: true,
  countDays: true,
};

export interface CheckedLogLimits {
  readonly maxMs: number;
  readonly maxRows: number;
  readonly countMs: number;
}

const day = 86_400_000;
const mostDays = 3_650;

/** @throws RangeError when a limit is out of range. */
export function checkLogLimits(
  { maxDays = 30, maxRows, countDays = 400 }: RequestLogLimits = {},
  usualRows = 1_000_000,
): CheckedLogLimits {
  const rows = maxRows ?? usualRows;
  requireWithin("maxDays", maxDays, mostDays);
  requireWithin("countDays", countDays, mostDays);
  requireWithin("maxRows", rows, 1_000_000_000);
  return { maxMs: maxDays * day, maxRows: rows, countMs: countDays * day };
}

function requireWithin(name: string, value: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return;
  throw new RangeError(`requestLog.${name} must be a whole number from 1 to ${most}, not ${value}.`);
}
