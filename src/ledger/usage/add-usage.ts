import { addCounts, noCounts } from "../../metering/summed-counts.js";
import type { UsageTotal } from "./usage-sum.js";
import { addCosts } from "./used-costs.js";

export const noUsage: Readonly<UsageTotal> = { requests: 0, chargedMicro: 0, tokens: noCounts };

export function addUsage(one: UsageTotal, other: UsageTotal): UsageTotal {
  return {
    requests: one.requests + other.requests,
    chargedMicro: one.chargedMicro + other.chargedMicro,
    ...addCosts(one, other),
    tokens: addCounts(one.tokens, other.tokens),
  };
}
