import type { RateLimit } from "../../../../src/ledger/limits.js";
import { mostTokens } from "./account-terms.js";
import type { CallTrace } from "./call-trace.js";

type Rate = Omit<RateLimit, "take">;

/** What the calls of a bucket show to be more than its limit admits. */
export function overrun(rate: Rate, calls: readonly CallTrace[]): string[] {
  const taken = calls.filter(({ lease }) => lease !== undefined && rate.id in lease.takes);
  if (rate.kind === "concurrent") return overConcurrent(rate, taken);
  if (rate.kind === "requests") return overRequests(rate, taken);
  return overTokens(rate, taken);
}

/** Each lease is open at least from the moment at which it was answered, to that at which its end was sent. */
function overConcurrent({ id, limit }: Rate, calls: readonly CallTrace[]): string[] {
  const moments = calls.flatMap(({ reservedAt, endingAt, lastsUntil }) => {
    const until = Math.min(endingAt, lastsUntil);
    return until > reservedAt
      ? [
          { at: reservedAt, change: 1 },
          { at: until, change: -1 },
        ]
      : [];
  });
  // What ends in a millisecond may have ended before what begins in it.
  moments.sort((one, other) => one.at - other.at || one.change - other.change);
  let [open, most] = [0, 0];
  for (const { change } of moments) {
    open += change;
    most = Math.max(most, open);
  }
  return most > limit ? [`${id}: ${most} at once, of ${limit}`] : [];
}

/** In any span of t milliseconds, at most burst + limit × t / 60,000. */
function overRequests({ id, limit, burst }: Rate, calls: readonly CallTrace[]): string[] {
  const moments = calls.map(({ lease }) => lease?.admittedAt ?? 0).sort((one, other) => one - other);
  let [least, worst] = [Number.POSITIVE_INFINITY, 0];
  for (const [index, at] of moments.entries()) {
    const level = index - (limit * at) / 60_000;
    least = Math.min(least, level);
    worst = Math.max(worst, level - least + 1);
  }
  // Floating-point numbers of this size are exact to a ten-thousandth.
  return worst > burst + 0.01 ? [`${id}: ${worst} in a span that admits ${burst}`] : [];
}

/** In all the time, what the calls have used, less than one call above what the bucket has gained. */
function overTokens({ id, limit, burst }: Rate, calls: readonly CallTrace[]): string[] {
  const used = calls.reduce((sum, call) => sum + (call.isSettled && !call.isLate ? (call.uses[id] ?? 0) : 0), 0);
  const moments = calls.map(({ lease }) => lease?.admittedAt ?? 0);
  const most = burst + (limit * (Math.max(...moments) - Math.min(...moments))) / 60_000 + mostTokens;
  return calls.length > 0 && used > most ? [`${id}: ${used} tokens, of ${most}`] : [];
}
