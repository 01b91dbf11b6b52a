import { addTokens, noTokens } from "../../metering/token-counts.js";
import type { UsageTotal } from "./usage-sum.js";
import { addCosts } from "./used-costs.js";

export const noUsage: Readonly<UsageTotal> = { requests: 0, chargedMicro: 0, tokens: noTokens };

export function addUsage(one: UsageTotal, other: UsageTotal): UsageTotal {
  return {
    requests: one.requests + other.requests,
    chargedMicro: one.chargedMicro + other.chargedMicro,
    ...addCosts(one, other),
    tokens: addTokens(one.tokens, other.tokens),
  };
}
