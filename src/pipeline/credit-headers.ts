import type { Micro, WindowName, WindowStates } from "../ledger/credit-ledger.js";

export const microPerCredit = 1_000_000;

interface HeaderNames {
  readonly window: WindowName;
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

const headerNames: readonly HeaderNames[] = (["session", "week", "month"] as const).map((window) => ({
  window,
  limit: `x-ratelimit-limit-${window}`,
  remaining: `x-ratelimit-remaining-${window}`,
  reset: `x-ratelimit-reset-${window}`,
}));

/**
 * The state of the stock, for each window that is limited: whole credits rounded down, instants in epoch seconds
 * rounded up. Settled charges only: what requests in flight hold is not counted.
 *
 * @returns `headers`, with those of the stock added.
 */
export function addCreditHeaders(headers: Record<string, string>, windows: WindowStates): Record<string, string> {
  for (const names of headerNames) {
    const { limit, bonus, used, resetsAt } = windows[names.window];
    if (limit === null) continue;
    headers[names.limit] = String(wholeCredits(limit + bonus));
    headers[names.remaining] = String(wholeCredits(limit + bonus - used));
    if (resetsAt === null) continue;
    headers[names.reset] = epochSeconds(resetsAt);
    if (names.window === "session") headers["x-ratelimit-reset"] = epochSeconds(resetsAt);
  }
  return headers;
}

export function epochSeconds(instant: number): string {
  return String(Math.ceil(instant / 1000));
}

function wholeCredits(amount: Micro): number {
  return Math.floor(Math.max(0, amount) / microPerCredit);
}
