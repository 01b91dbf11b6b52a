import type { Micro, WindowName, WindowStates } from "../ledger/credit-ledger.js";

export const microPerCredit = 1_000_000;

const suffixes: readonly (readonly [WindowName, string])[] = [
  ["session", "session"],
  ["week", "week"],
  ["month", "month"],
];

/**
 * The state of the stock, for each window that is limited: whole credits rounded down, instants in epoch seconds
 * rounded up. Settled charges only: what requests in flight hold is not counted.
 */
export function creditHeaders(windows: WindowStates): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, suffix] of suffixes) {
    const { limit, bonus, used, resetsAt } = windows[name];
    if (limit === null) continue;
    headers[`x-ratelimit-limit-${suffix}`] = String(wholeCredits(limit + bonus));
    headers[`x-ratelimit-remaining-${suffix}`] = String(wholeCredits(limit + bonus - used));
    if (resetsAt !== null) headers[`x-ratelimit-reset-${suffix}`] = epochSeconds(resetsAt);
  }
  const sessionReset = headers["x-ratelimit-reset-session"];
  if (sessionReset !== undefined) headers["x-ratelimit-reset"] = sessionReset;
  return headers;
}

export function epochSeconds(instant: number): string {
  return String(Math.ceil(instant / 1000));
}

function wholeCredits(amount: Micro): number {
  return Math.floor(Math.max(0, amount) / microPerCredit);
}
