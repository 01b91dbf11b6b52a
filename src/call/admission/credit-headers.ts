import type { RateRule } from "../../access/rate-rules.js";
import type { AccountCredits, WindowState } from "../../ledger/credit-ledger.js";
import type { RateState } from "../../ledger/limits.js";
import type { Micro } from "../../prices/micro.js";

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

/**
 * Adds OpenAI's `x-ratelimit` headers of requests and tokens, each of the limit of which the least is left. The limit
 * that clients read is what a full bucket holds: so much can be used before the limit is reached, and so much is left
 * at the reset.
 * @param rules - the rates that the call is subject to.
 * @returns `headers`
 */
export function addRateHeaders(
  headers: Record<string, string>,
  rates: readonly RateState[] | undefined,
  rules: readonly RateRule[] | undefined,
): Record<string, string> {
  if (rates === undefined) return headers;
  for (const kind of ["requests", "tokens"] as const) {
    const strictest = strictestOf(rates, kind);
    if (strictest === undefined) continue;
    const burst = rules?.find(({ id }) => id === strictest.id)?.burst;
    headers[`x-ratelimit-limit-${kind}`] = String(burst ?? strictest.limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(strictest.remaining);
    headers[`x-ratelimit-reset-${kind}`] = rateDuration(strictest.fullInMs);
  }
  return headers;
}

function strictestOf(rates: readonly RateState[], kind: RateState["kind"]): RateState | undefined {
  let strictest: RateState | undefined;
  for (const rate of rates) {
    if (rate.kind === kind && (strictest === undefined || isStricter(rate, strictest))) strictest = rate;
  }
  return strictest;
}

/** Of two with as little left, the one that takes longer to fill. */
function isStricter(one: RateState, other: RateState): boolean {
  return one.remaining === other.remaining ? one.fullInMs > other.fullInMs : one.remaining < other.remaining;
}

/** A duration as OpenAI's headers have it, and Go's `time.Duration`: `0s`, `12ms`, `8.64s`, `6m0s`, `1h0m0s`. */
export function rateDuration(milliseconds: number): string {
  if (milliseconds === 0) return "0s";
  if (milliseconds < 1000) return `${milliseconds}ms`;
  const minutes = Math.floor(milliseconds / 60_000);
  const seconds = `${(milliseconds - minutes * 60_000) / 1000}s`;
  if (minutes === 0) return seconds;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes}m${seconds}` : `${hours}h${minutes % 60}m${seconds}`;
}

/** Credits with all their decimals, without trailing zeros. */
export function creditText(amount: Micro): string {
  const whole = Math.floor(amount / microPerCredit);
  let rest = amount - whole * microPerCredit;
  if (rest === 0) return String(whole);
  let decimals = 6;
  for (; rest % 10 === 0; decimals--) rest /= 10;
  return `${whole}.${String(rest).padStart(decimals, "0")}`;
}
