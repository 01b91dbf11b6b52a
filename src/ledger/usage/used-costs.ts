import type { Micro } from "../../metering/micro.js";
import type { UsageTotal } from "./usage-sum.js";

/** What calls cost the operator, where that is known. */
export type UsedCosts = Pick<UsageTotal, "costMicro" | "costedMicro">;

export function usedCosts(costMicro: Micro, costedMicro: Micro): UsedCosts {
  return costMicro === 0 && costedMicro === 0 ? {} : { costMicro, costedMicro };
}

export function addCosts(one: UsedCosts, other: UsedCosts): UsedCosts {
  return usedCosts((one.costMicro ?? 0) + (other.costMicro ?? 0), (one.costedMicro ?? 0) + (other.costedMicro ?? 0));
}
