import type { TokenCounts } from "../../metering/token-counts.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { defaultTokenBounds } from "../../tokens/token-bounds.js";
import { mediaTokens } from "./media-tokens.js";
import { textsBetween, valueMedia } from "./message-media.js";

/** Prose, code and JSON have more bytes of UTF-8 per token. */
const bytesPerToken = 3;

/** An estimate for a text of which only the size is known. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
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

/** The tokens of a response without a usage report. @param outputBytes - of the output received. */
export function estimatedTokens(promptTokens: number, outputBytes: number): TokenCounts {
  return { input: promptTokens, cachedInput: 0, output: estimateTokens(outputBytes), reasoning: 0 };
}
