import type { PriceTerm } from "../metering/prices/price.js";

/** What the prices of an operation's models are for. */
export interface PriceTerms {
  /** A price has all members of one of these lists. */
  readonly required: readonly (readonly PriceTerm[])[];
  /** The members that it may have: no other is ever counted. */
  readonly known: readonly PriceTerm[];
}

/** Of all operations that answer with texts. */
export const textPrices: PriceTerms = {
  required: [["input", "output"]],
  known: ["input", "cachedInput", "cacheWrite", "cacheWrite1h", "output", "reasoning", "request"],
};
