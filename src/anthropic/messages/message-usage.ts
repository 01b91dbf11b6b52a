import type { EstimateBounds } from "../../model-api/media/token-estimate.js";
import { type CountedTokens, countedTokens } from "../../model-api/usage/counted-tokens.js";
import { UsageTally } from "../../model-api/usage/usage-tally.js";
import { TextSample } from "../../tokens/text-sample.js";
import { blockText } from "./block-text.js";

/** What a whole message counts. */
export interface MessageUsage extends CountedTokens {
  /** See `ModelAnswer`. */
  readonly unpriced: string | undefined;
}

/** In Messages, caches stand beside the prompt. */
export function messageTally(): UsageTally {
  return new UsageTally(true);
}

/** @param content - the blocks of the message. */
export function messageUsage(usage: unknown, content: readonly unknown[], bounds: EstimateBounds): MessageUsage {
  const tally = messageTally();
  tally.add(usage);
  return { ...countedTokens(tally, bounds, () => sampleOf(content)), unpriced: tally.unpriced };
}

function sampleOf(content: readonly unknown[]): TextSample {
  const sample = new TextSample();
  for (const block of content) sample.addText(blockText(block));
  return sample;
}
