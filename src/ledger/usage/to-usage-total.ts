import type { SummedCounts } from "../../metering/summed-counts.js";
import { summedUnits } from "../../metering/usage-counts.js";
import type { UsageTotal } from "./usage-sum.js";
import { usedCosts } from "./used-costs.js";

/**
 * @param counts - calls and credits, tokens by kind, units in the order of {@link summedUnits}, what the calls cost, and what
 * those of a known cost were charged.
 */
export function toUsageTotal(counts: readonly number[]): UsageTotal {
  const [requests = 0, chargedMicro = 0, input = 0, cachedInput = 0, cacheWrite = 0, ...rest] = counts;
  const [output = 0, reasoning = 0, ...others] = rest;
  const [costMicro = 0, costedMicro = 0] = others.slice(summedUnits.length);
  const tokens: SummedCounts = {
    input,
    cachedInput,
    ...(cacheWrite !== 0 && { cacheWrite }),
    output,
    reasoning,
  };
  for (const [place, unit] of summedUnits.entries()) {
    const count = others[place] ?? 0;
    if (count !== 0) tokens[unit] = count;
  }
  return {
    requests,
    chargedMicro,
    ...usedCosts(costMicro, costedMicro),
    tokens,
  };
}

/** The other way round. */
export function toCounts({ requests, chargedMicro, costMicro = 0, costedMicro = 0, tokens }: UsageTotal): number[] {
  const { input, cachedInput, cacheWrite = 0, output, reasoning } = tokens;
  const units = summedUnits.map((unit) => tokens[unit] ?? 0);
  return [requests, chargedMicro, input, cachedInput, cacheWrite, output, reasoning, ...units, costMicro, costedMicro];
}
