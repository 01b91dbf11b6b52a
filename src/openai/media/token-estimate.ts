import type { TokenCounts } from "../../metering/token-counts.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { defaultTokenBounds } from "../../tokens/token-bounds.js";
import { mediaTokens } from "./media-tokens.js";
import { textsBetween, valueMedia } from "./message-media.js";

/** Prose, code and JSON have more bytes of UTF-8 to a token. */
const bytesPerToken = 3;

/** Tokens in a text of so many bytes, of which nothing else is known. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/**
 * The most tokens in a JSON value that may hold media, such as an item of an embeddings request; infinite where nothing
 * bounds them.
 *
 * @param mayHoldMedia - `false` where it is known that there is none, which saves the search.
 */
export function estimatePromptTokens(json: Uint8Array, mayHoldMedia: boolean): number {
  const media = mayHoldMedia ? valueMedia(json, 0) : [];
  const tokens = media.reduce((sum, item) => sum + mediaTokens(json, item, defaultTokenBounds), 0);
  return textsBetween(json, media).reduce((sum, text) => sum + textTokens(text, true), tokens);
}

/** What a response counts of which the upstream reports no usage. @param outputBytes - of what was seen of it. */
export function estimatedTokens(promptTokens: number, outputBytes: number): TokenCounts {
  return { input: promptTokens, cachedInput: 0, output: estimateTokens(outputBytes), reasoning: 0 };
}
