import type { TokenCounts } from "../../metering/token-counts.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { AnswerEdits } from "../../model-api/answer/answer-edits.js";
import { hasUsageTotals, readUsage, toUsageObject, visibleUsage } from "../../model-api/answer/usage.js";
import { estimatedTokens } from "../../model-api/media/token-estimate.js";
import type { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";
import { reportsOneChoice, withOtherChoices } from "./choice-usage.js";

type Choice = Record<string, unknown>;

/** A whole completion whose usage is asked for. */
interface WholeCompletion {
  /** The report of the upstream, if there is one. */
  readonly usage: unknown;
  readonly choices: readonly Choice[];
  /** The prompts that it completes. */
  readonly prompts: number;
  /** What the model has written in some of the choices. */
  readonly written: (choices: readonly Choice[]) => TextSample;
  /** So many choices were written for each that was sent. Default: 1. */
  readonly writtenForEach?: number;
}

/** The usage of a whole completion. The edits get what is to change for the client to see the same. */
export function answerUsage(
  { usage: said, choices, prompts, written, writtenForEach = 1 }: WholeCompletion,
  context: AnswerContext,
  edits: AnswerEdits,
): { readonly tokens: TokenCounts; readonly estimated: boolean } {
  const reported = readUsage(said);
  const isOfOne = reportsOneChoice(context.dialect, choices.length);
  const estimated = reported === undefined || isOfOne;
  const tokens =
    reported === undefined
      ? withUnsent(estimatedTokens(context, written(choices)), writtenForEach, context)
      : isOfOne
        ? withOtherChoices(reported, written(choices.slice(1)), { bounds: context, prompts })
        : reported;
  const usage = visibleUsage(said, context.dialect);
  if (estimated || !hasUsageTotals(usage)) {
    edits.set("usage", JSON.stringify({ ...(isRecord(usage) ? usage : {}), ...toUsageObject(tokens) }));
  } else if (usage !== said) {
    edits.set("usage", JSON.stringify(usage));
  }
  return { tokens, estimated };
}

/** Those that were not sent count as those that were. */
function withUnsent(sent: TokenCounts, writtenForEach: number, { outputCap }: AnswerContext): TokenCounts {
  return writtenForEach === 1
    ? sent
    : { ...sent, output: Math.min(Math.ceil(sent.output * writtenForEach), outputCap) };
}
