import type { RateRule } from "../../access/rate-rules.js";
import type { RateUse } from "../../ledger/rate-limit.js";
import { largestCount, type TokenCounts } from "../../metering/token-counts.js";

/**
 * What a call has used of its rates. What is open at once needs no number: it ends with the call.
 * @param reachedUpstream - whether an upstream got the request. Else it does not count as one.
 */
export function rateUses(rules: readonly RateRule[], tokens: TokenCounts, reachedUpstream: boolean): RateUse[] {
  return rules.flatMap((rule) => {
    switch (rule.kind) {
      case "requests":
        return { id: rule.id, actual: reachedUpstream ? 1 : 0 };
      case "tokens":
        return { id: rule.id, actual: countedTokens(rule, tokens) };
      default:
        return [];
    }
  });
}

function countedTokens({ count, cached }: RateRule, { input, cachedInput, output }: TokenCounts): number {
  const prompt = cached ? input : Math.max(0, input - cachedInput);
  const counted = (count === "output" ? 0 : prompt) + (count === "input" ? 0 : output);
  return Math.min(Math.ceil(counted), largestCount);
}
