import type { Micro } from "./micro.js";
import type { UsageSource } from "./outcome.js";
import { noTokens, type TokenCounts } from "./token-counts.js";

/** What one call cost. */
export interface Charge {
  readonly micro: Micro;
  readonly tokens: TokenCounts;
  /** `undefined`: nothing was charged. */
  readonly source: UsageSource | undefined;
}

export const noCharge: Charge = { micro: 0, tokens: noTokens, source: undefined };
