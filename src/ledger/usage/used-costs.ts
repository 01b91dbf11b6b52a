import type { Micro } from "../../metering/micro.js";

/** What calls cost the operator, where that is known. Absent: of none. */
export interface UsedCosts {
  /** What the calls with a known cost have cost the operator. */
  costMicro?: Micro;
  /** The part of `chargedMicro` that these calls were charged. The rest has no known cost. */
  costedMicro?: Micro;
}

export function usedCosts(costMicro: Micro, costedMicro: Micro): UsedCosts {
  return costMicro === 0 && costedMicro === 0 ? {} : { costMicro, costedMicro };
}

export function addCosts(one: UsedCosts, other: UsedCosts): UsedCosts {
  return usedCosts((one.costMicro ?? 0) + (other.costMicro ?? 0), (one.costedMicro ?? 0) + (other.costedMicro ?? 0));
}
