import type { UsageTotal } from "./usage-sum.js";
import { usedCosts } from "./used-costs.js";

/** @param counts - calls and credits, tokens by kind, what they cost, and what those of a known cost were charged. */
export function toUsageTotal(counts: readonly number[]): UsageTotal {
  const [requests = 0, chargedMicro = 0, input = 0, cachedInput = 0, cacheWrite = 0, ...rest] = counts;
  const [output = 0, reasoning = 0, costMicro = 0, costedMicro = 0] = rest;
  return {
    requests,
    chargedMicro,
    ...usedCosts(costMicro, costedMicro),
    tokens: { input, cachedInput, ...(cacheWrite !== 0 && { cacheWrite }), output, reasoning },
  };
}
