import type { TokenCounts } from "../../metering/token-counts.js";
import { TextSample } from "../../tokens/text-sample.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { defaultTokenBounds } from "../../tokens/token-bounds.js";
import { mediaTokens } from "./media-tokens.js";
import { textsBetween, valueMedia } from "./message-media.js";

/** What is known of a call before its response. */
export interface EstimateBounds {
  /** What the prompt counts where the upstream does not say. */
  readonly promptTokens: number;
  /** The most output tokens that the request and the model allow, for which credits are held. */
  readonly outputCap: number;
}

/**
 * The most tokens in a JSON value that may contain media, such as an item of an embeddings request. Infinite when
 * nothing limits them.
 *
 * @param mayHoldMedia - `false` skips the search for media.
 */
export function estimatePromptTokens(json: Uint8Array, mayHoldMedia: boolean): number {
  const media = mayHoldMedia ? valueMedia(json, 0) : [];
  const tokens = media.reduce((sum, item) => sum + mediaTokens(json, item, defaultTokenBounds), 0);
  return textsBetween(json, media).reduce((sum, text) => sum + textTokens(text, true), tokens);
}

/**
 * The output of a response that nobody has counted: at the most, as prompts are held.
 * @param output - what was received.
 */
export function estimatedOutput({ outputCap }: Pick<EstimateBounds, "outputCap">, output: TextSample): number {
  return Math.min(output.tokens(), outputCap);
}

/** What was seen of a whole response that has not come to its end. @param pieces - JSON. */
export function partialTokens(bounds: EstimateBounds, pieces: readonly Uint8Array[]): TokenCounts {
  const sample = new TextSample(true);
  for (const piece of pieces) sample.addBytes(piece, 0, piece.length);
  return { input: bounds.promptTokens, cachedInput: 0, output: estimatedOutput(bounds, sample), reasoning: 0 };
}
