import { type PriceTerm, stepPrices } from "../metering/prices/price.js";

/** What the prices of an operation's models are for. */
export interface PriceTerms {
  /** A price has all members of one of these lists. */
  readonly required: readonly (readonly PriceTerm[])[];
  /** The members that it may have: no other is ever counted. */
  readonly known: readonly PriceTerm[];
}

/** What plain tokens are priced by. */
export const tokenTerms: readonly PriceTerm[] = [
  ...(["input", "cachedInput", "cacheWrite", "cacheWrite1h", "output", "reasoning", "request"] as const),
];

/** Of all operations that answer with texts. Some models hear and speak, too. */
export const textPrices: PriceTerms = {
  required: [["input", "output"]],
  known: [...stepPrices, "request", "steps", "tiers"],
};
