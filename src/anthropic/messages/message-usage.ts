import type { TokenCounts } from "../../metering/token-counts.js";
import { type EstimateBounds, estimatedOutput } from "../../model-api/media/token-estimate.js";
import { TextSample } from "../../tokens/text-sample.js";
import { UsageTally } from "../usage.js";
import { blockText } from "./block-text.js";

/** What a whole message counts. */
export interface MessageUsage {
  readonly tokens: TokenCounts;
  /** The upstream did not report all of it: the rest is estimated. */
  readonly estimated: boolean;
  /** See `ModelAnswer`. */
  readonly unpriced: string | undefined;
}

/** @param content - the blocks of the message. */
export function messageUsage(usage: unknown, content: readonly unknown[], bounds: EstimateBounds): MessageUsage {
  const tally = new UsageTally();
  tally.add(usage);
  const { counts, countsOutput, unpriced } = tally;
  const hasInput = counts !== undefined && counts.input > 0;
  if (hasInput && countsOutput) return { tokens: counts, estimated: false, unpriced };
  const { cachedInput = 0, output: reported = 0, reasoning = 0, ...rest } = counts ?? {};
  const isCounted = counts !== undefined && countsOutput;
  const output = isCounted ? reported : Math.max(reported, estimatedOutput(bounds, sampleOf(content)));
  const input = hasInput ? counts.input : bounds.promptTokens;
  const tokens = { ...rest, input, cachedInput, output, reasoning: Math.min(reasoning, output) };
  return { tokens, estimated: true, unpriced };
}

function sampleOf(content: readonly unknown[]): TextSample {
  const sample = new TextSample();
  for (const block of content) sample.addText(blockText(block));
  return sample;
}
