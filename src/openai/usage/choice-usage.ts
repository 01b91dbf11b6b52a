import type { UsageCounts } from "../../metering/usage-counts.js";
import type { Dialect } from "../../model-api/dialect.js";
import { type EstimateBounds, estimatedOutput } from "../../model-api/media/token-estimate.js";
import { readReport } from "../../model-api/usage/usage-tally.js";
import type { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";

/** Adds up what the choices of a stream used, where the server reports each one's own. */
export class ChoiceUsage {
  readonly #n: number;
  /** What was read for each prompt: once, however many choices it has. */
  readonly #prompts = new Map<number, UsageCounts>();
  #output = 0;

  /** @param n - the choices of each prompt. */
  constructor(n: number) {
    this.#n = n;
  }

  /**
   * @param usage - a choice's own.
   * @param choices - of the chunk that it came in; none: that of the only prompt.
   * @returns the usage of all choices that have come to their end, as a report; `undefined`: it is no usage.
   */
  add(usage: unknown, choices: unknown): Record<string, unknown> | undefined {
    const tokens = readReport(usage)?.tokens;
    if (tokens === undefined) return undefined;
    const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
    const index = isRecord(first) ? Number(first["index"]) || 0 : 0;
    const prompt = Math.floor(index / this.#n);
    if (!this.#prompts.has(prompt)) this.#prompts.set(prompt, tokens);
    this.#output += tokens.output;
    return this.#report();
  }

  #report(): Record<string, unknown> {
    let input = 0;
    let cached = 0;
    for (const tokens of this.#prompts.values()) {
      input += tokens.input;
      cached += tokens.cachedInput;
    }
    return {
      prompt_tokens: input,
      completion_tokens: this.#output,
      total_tokens: input + this.#output,
      prompt_tokens_details: { cached_tokens: cached },
    };
  }
}

/** Whether a report of such an answer tells of one of its choices alone. */
export function reportsOneChoice(dialect: Dialect | undefined, choices: number): boolean {
  return choices > 1 && dialect?.usagePerChoice === true;
}

/**
 * The usage of a whole answer whose report tells of its first choice alone. The rest is an estimate.
 * @param bounds - their `promptTokens` are those of all prompts.
 * @param others - what the other choices brought.
 * @param prompts - how many there are.
 */
export function withOtherChoices(
  reported: UsageCounts,
  others: TextSample,
  { bounds, prompts }: { readonly bounds: EstimateBounds; readonly prompts: number },
): UsageCounts {
  return {
    ...reported,
    input: prompts === 1 ? reported.input : Math.max(reported.input, bounds.promptTokens),
    output: Math.max(reported.output, Math.min(reported.output + estimatedOutput(bounds, others), bounds.outputCap)),
  };
}
