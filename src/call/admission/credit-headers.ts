import type { AccountCredits, WindowState } from "../../ledger/credit-ledger.js";
import type { Micro } from "../../metering/micro.js";

export const microPerCredit = 1_000_000;

/**
 * Adds the `X-RateLimit` headers of each limited window: whole credits rounded down, instants in epoch seconds rounded
 * up. They count settled charges only, not credits held by calls in progress. An account that has prepaid credits gets
 * theirs, too.
 *
 * Each name is written out. V8 turns an object with many computed names into a hash table, which is slow.
 *
 * @returns `headers`
 */
export function addCreditHeaders(headers: Record<string, string>, credits: AccountCredits): Record<string, string> {
  const { session, week, month } = credits.windows;
  if (session.limitMicro !== null) {
    headers["x-ratelimit-limit-session"] = limitOf(session);
    headers["x-ratelimit-remaining-session"] = remainingOf(session);
    if (session.resetsAt !== null) {
      headers["x-ratelimit-reset-session"] = epochSeconds(session.resetsAt);
      headers["x-ratelimit-reset"] = epochSeconds(session.resetsAt);
    }
  }
  if (week.limitMicro !== null) {
    headers["x-ratelimit-limit-week"] = limitOf(week);
    headers["x-ratelimit-remaining-week"] = remainingOf(week);
    if (week.resetsAt !== null) headers["x-ratelimit-reset-week"] = epochSeconds(week.resetsAt);
  }
  if (month.limitMicro !== null) {
    headers["x-ratelimit-limit-month"] = limitOf(month);
    headers["x-ratelimit-remaining-month"] = remainingOf(month);
    if (month.resetsAt !== null) headers["x-ratelimit-reset-month"] = epochSeconds(month.resetsAt);
  }
  const { prepaid } = credits;
  if (prepaid !== undefined) headers["x-ratelimit-remaining-prepaid"] = wholeCredits(prepaid.balanceMicro);
  return headers;
}

function limitOf({ limitMicro, bonusMicro }: WindowState): string {
  return wholeCredits((limitMicro ?? 0) + bonusMicro);
}

function remainingOf({ limitMicro, bonusMicro, usedMicro }: WindowState): string {
  return wholeCredits((limitMicro ?? 0) + bonusMicro - usedMicro);
}

export function epochSeconds(instant: number): string {
  return String(Math.ceil(instant / 1000));
}

function wholeCredits(amount: Micro): string {
  return String(Math.floor(Math.max(0, amount) / microPerCredit));
}
