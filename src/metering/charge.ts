import type { Micro } from "./micro.js";
import type { UsageSource } from "./outcome.js";
import { noTokens } from "./token-counts.js";
import type { UsageCounts } from "./usage-counts.js";

/** What a call cost the operator, by the `cost` of its targets. */
export interface OperatorCost {
  /** Of all attempts of which it is known. */
  readonly micro: Micro;
  /** Of the attempt that ended the call; `undefined`: it is not known. */
  readonly lastMicro: Micro | undefined;
}

/** What one call cost. */
export interface Charge {
  readonly micro: Micro;
  readonly tokens: UsageCounts;
  /** `undefined`: nothing was charged. */
  readonly source: UsageSource | undefined;
  /** Absent where it is not known, so that most calls carry no byte of it. */
  cost?: OperatorCost;
}

export const noCharge: Charge = { micro: 0, tokens: noTokens, source: undefined };
