import type { TokenCounts, UsageCounts } from "../../prices/usage-counts.js";
import { TextSample } from "../../tokens/text-sample.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { defaultTokenBounds } from "../../tokens/tokenizer.js";
import { mediaTokens } from "./media-tokens.js";
import { textsBetween, valueMedia } from "./message-media.js";
import type { UsageTally } from "./usage-tally.js";

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

/** What a response counts. */
export interface CountedTokens {
  readonly tokens: UsageCounts;
  /** Whether a half of it is estimated. */
  readonly estimated: boolean;
}

/**
 * What is charged for a response: what its report says, and an estimate of each half that it does not count. Zero beside
 * an answer that was seen is no count.
 * @param seen - what has come of the answer.
 */
export function countedTokens(
  { report, tier }: Pick<UsageTally, "report" | "tier">,
  bounds: EstimateBounds,
  seen: () => TextSample,
): CountedTokens {
  if (report === undefined) {
    const output = estimatedOutput(bounds, seen());
    const tokens: UsageCounts = { input: bounds.promptTokens, cachedInput: 0, output, reasoning: 0 };
    if (tier !== undefined) tokens.serviceTier = tier;
    return { tokens, estimated: true };
  }
  const { tokens, hasInput } = report;
  const hasOutput = report.hasOutput && (tokens.output > 0 || seen().bytes === 0);
  if (hasInput && hasOutput) return { tokens, estimated: false };
  return {
    tokens: {
      ...tokens,
      input: hasInput ? tokens.input : Math.max(tokens.input, bounds.promptTokens),
      output: hasOutput ? tokens.output : Math.max(tokens.output, estimatedOutput(bounds, seen())),
    },
    estimated: true,
  };
}
