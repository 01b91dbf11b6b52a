import { type PriceTerm, stepPrices } from "../../prices/price.js";

export const modelTypes = [
  "chat",
  "embedding",
  "completion",
  "moderation",
  "image",
  "rerank",
  "speech",
  "transcription",
] as const;

/** What a model is for. */
export type ModelType = (typeof modelTypes)[number];

/** Of which models it must be known how many tokens they read at once: the others have no context that is priced. */
export const contextTypes: readonly ModelType[] = ["chat", "embedding", "completion"];

/** Of which models responses are read on after their clients have left: most of what they cost is done by then. */
export const drainedTypes: readonly ModelType[] = ["image"];

/** Models that make or hear sound. */
export const audioTypes: readonly ModelType[] = ["speech", "transcription"];

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
