import type { UsageCounts } from "../../metering/usage-counts.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { AnswerEdits } from "../../model-api/answer/answer-edits.js";
import { hasUsageTotals, toUsageObject, visibleUsage } from "../../model-api/answer/usage.js";
import { type CountedTokens, countedTokens } from "../../model-api/usage/counted-tokens.js";
import { findReport } from "../../model-api/usage/find-report.js";
import { UsageTally } from "../../model-api/usage/usage-tally.js";
import type { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";
import { reportsOneChoice, withOtherChoices } from "./choice-usage.js";

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
  /** See `ModelAnswer`. */
  readonly unpriced: string | undefined;
}

/** The usage of a whole completion. The edits get what is to change for the client to see the same. */
export function answerUsage(completion: WholeCompletion, context: AnswerContext, edits: AnswerEdits): AnswerUsage {
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
  context: AnswerContext,
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
function withUnsent(sent: UsageCounts, writtenForEach: number, { outputCap }: AnswerContext): UsageCounts {
  return writtenForEach === 1
    ? sent
    : { ...sent, output: Math.min(Math.ceil(sent.output * writtenForEach), outputCap) };
}
