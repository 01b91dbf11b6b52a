import type { UsageCounts } from "../../prices/usage-counts.js";
import type { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";
import type { Dialect } from "../shared/dialect.js";
import type { AttemptContext } from "../shared/exchange.js";
import type { ResponseEdits } from "../shared/received-response.js";
import { type CountedTokens, countedTokens, type EstimateBounds, estimatedOutput } from "../shared/token-estimate.js";
import { hasUsageTotals, toUsageObject, visibleUsage } from "../shared/usage-object.js";
import { findReport } from "../shared/usage-report.js";
import { readReport, UsageTally } from "../shared/usage-tally.js";

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
function withOtherChoices(
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

type Choice = Record<string, unknown>;

/** A whole completion whose usage is asked for. */
interface WholeCompletion {
  readonly json: Readonly<Record<string, unknown>>;
  readonly choices: readonly Choice[];
  /** The prompts that it completes. */
  readonly prompts: number;
  /** What the model has written in some of the choices. */
  readonly written: (choices: readonly Choice[]) => TextSample;
  /** So many choices were written for each that was sent. Default: 1. */
  readonly writtenForEach?: number;
}

/** What a whole completion counts. */
export interface AnswerUsage extends CountedTokens {
  /** See `ModelResponse`. */
  readonly unpriced: string | undefined;
}

/** The usage of a whole completion. The edits get what is to change for the client to see the same. */
export function responseUsage(completion: WholeCompletion, context: AttemptContext, edits: ResponseEdits): AnswerUsage {
  const { json } = completion;
  const tally = new UsageTally();
  const found = findReport(json);
  tally.add(found);
  tally.tierCame(json["service_tier"]);
  const { tokens, estimated } = countsOf(completion, tally, context);
  const said = json["usage"];
  const usage = visibleUsage(said, context.dialect);
  if (estimated || !hasUsageTotals(usage, tokens)) {
    edits.set("usage", JSON.stringify({ ...(isRecord(usage) ? usage : {}), ...toUsageObject(tokens) }));
  } else if (usage !== said) {
    edits.set("usage", JSON.stringify(usage));
  }
  return { tokens, estimated, unpriced: tally.unpriced };
}

function countsOf(
  { choices, prompts, written, writtenForEach = 1 }: WholeCompletion,
  tally: UsageTally,
  context: AttemptContext,
): CountedTokens {
  const { report } = tally;
  const counted = countedTokens(tally, context, () => written(choices));
  const isOfOne = report !== undefined && reportsOneChoice(context.dialect, choices.length);
  if (isOfOne) {
    const others = written(choices.slice(1));
    return { tokens: withOtherChoices(counted.tokens, others, { bounds: context, prompts }), estimated: true };
  }
  if (report?.hasOutput && counted.tokens.output === report.tokens.output) return counted;
  return { ...counted, tokens: withUnsent(counted.tokens, writtenForEach, context) };
}

/** Those that were not sent count as those that were. */
function withUnsent(sent: UsageCounts, writtenForEach: number, { outputCap }: AttemptContext): UsageCounts {
  return writtenForEach === 1
    ? sent
    : { ...sent, output: Math.min(Math.ceil(sent.output * writtenForEach), outputCap) };
}
