import type { UsageCounts } from "../../metering/usage-counts.js";
import type { TextSample } from "../../tokens/text-sample.js";
import { type EstimateBounds, estimatedOutput } from "../media/token-estimate.js";
import type { UsageTally } from "./usage-tally.js";

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
