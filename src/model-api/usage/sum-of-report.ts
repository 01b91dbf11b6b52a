import { largestCount } from "../../metering/token-counts.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import type { SaidCounts, TokenReport } from "./token-report.js";

/**
 * What the counts of a report come to. Servers differ in what is a part of what:
 *
 * - What came from a cache, and went into it, is a part of the prompt's count, or stands beside it. The total says which.
 *   Under the names of an API that has them beside it, they are no part of what is smaller.
 * - Where the total has more than is explained so, the rest is output that the completion's count leaves out, or audio that
 *   was heard.
 * - A total that is less than its parts says nothing.
 *
 * @param cachesStandBeside - the API has them beside the prompt.
 * @returns `undefined` where nothing is counted.
 */
export function sumOfReport(said: SaidCounts, cachesStandBeside: boolean): TokenReport | undefined {
  const { prompt = 0, completion, total = 0, besidePrompt = 0, besideCompletion = 0 } = said;
  const told = completion === undefined && besideCompletion === 0 ? undefined : (completion ?? 0) + besideCompletion;
  const beside = cachesBeside(said, cachesStandBeside, total - prompt - (told ?? 0) - besidePrompt);
  // A prompt that nobody has counted is what the total leaves for it.
  const left = prompt === 0 && told ? total - told - besidePrompt : 0;
  const input = Math.max(prompt + beside, left);
  const unnamed = input === 0 ? 0 : Math.max(0, total - input - (told ?? 0) - besidePrompt);
  const heard = said.audioSeconds && told ? unnamed : 0;
  const rest = unnamed - heard;
  const hasOutput = told !== undefined || rest > 0;
  const output = Math.min(outputOf(said, hasOutput ? (told ?? 0) + rest : undefined), largestCount);
  const whole = Math.min(input + heard + besidePrompt, largestCount);
  if (whole + output === 0) return undefined;
  const tokens = tokensOf(said, whole, output);
  if (heard > 0) tokens.inputAudio = heard;
  return { tokens, hasInput: input > 0, hasOutput };
}

/** @param answered - `undefined`: it is not counted, but for some of it. */
function outputOf(said: SaidCounts, answered: number | undefined): number {
  const { reasoning = 0, ownReasoning = 0, leastCompletion = 0 } = said;
  if (answered === undefined) return Math.max(reasoning, ownReasoning, leastCompletion);
  return Math.max(ownReasoning > answered ? answered + ownReasoning : answered, leastCompletion);
}

/** How many tokens of a cache the prompt's count leaves out. @param rest - what the total has beside the two counts. */
function cachesBeside(said: SaidCounts, cachesStandBeside: boolean, rest: number): number {
  const { prompt = 0, completion, total, cachedBeside = 0, writtenBeside = 0 } = said;
  const reasoning = reasoningOf(said);
  const { cached, written } = cachesOf(said);
  const both = cached + written;
  const namedBeside = cachedBeside + writtenBeside;
  if (both === 0) return 0;
  if (cachesStandBeside && namedBeside > 0) return namedBeside;
  if (namedBeside === both && both > prompt) return both;
  if (total === undefined || completion === undefined || rest <= 0) return 0;
  const explained = [both, cached, written].find(
    (part) => part > 0 && (rest === part || (reasoning > 0 && rest === part + reasoning)),
  );
  return explained ?? (namedBeside === both && rest > both ? both : 0);
}

/** A server that has them under the names of two APIs counts them once. */
export function cachesOf(said: SaidCounts): { readonly cached: number; readonly written: number } {
  return { cached: said.cachedBeside || said.cached || 0, written: said.writtenBeside || said.written || 0 };
}

function reasoningOf({ reasoning = 0, ownReasoning = 0 }: SaidCounts): number {
  return Math.max(reasoning, ownReasoning);
}

function tokensOf(said: SaidCounts, input: number, output: number): UsageCounts {
  const { writtenForHour = 0 } = said;
  const caches = cachesOf(said);
  const cachedInput = Math.min(caches.cached, input);
  const cacheWrite = Math.min(caches.written, input - cachedInput);
  const cacheWrite1h = Math.min(writtenForHour, cacheWrite);
  const tokens: UsageCounts = { input, cachedInput, output, reasoning: Math.min(reasoningOf(said), output) };
  if (cacheWrite > 0) tokens.cacheWrite = cacheWrite;
  if (cacheWrite1h > 0) tokens.cacheWrite1h = cacheWrite1h;
  if (said.inputAudio) tokens.inputAudio = Math.min(said.inputAudio, input);
  if (said.cachedInputAudio) tokens.cachedInputAudio = Math.min(said.cachedInputAudio, cachedInput);
  if (said.outputAudio) tokens.outputAudio = Math.min(said.outputAudio, output);
  return tokens;
}
