import { soundUsage } from "../../metering/sound-usage.js";
import { readTokenCount, type TokenCounts } from "../../metering/token-counts.js";
import { isRecord } from "../../wire/is-record.js";
import type { Dialect } from "../dialect.js";

/** The `usage` object of a chat completion (OpenAI reference, "CompletionUsage"), as the gateway itself writes it. */
export interface UsageObject {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/**
 * Reads the usage reports of different upstreams. Details may be absent or `null`. DeepSeek has its own name for cached
 * tokens. xAI counts reasoning tokens in `total_tokens` but not in `completion_tokens`.
 *
 * @returns `undefined` when it cannot be charged: absent, incomplete, malformed, or all zero.
 */
export function readUsage(usage: unknown): TokenCounts | undefined {
  if (!isRecord(usage)) return undefined;
  const input = readTokenCount(usage["prompt_tokens"]);
  const total = readTokenCount(usage["total_tokens"]);
  const completion = readTokenCount(usage["completion_tokens"]);
  if (input === undefined || (completion === undefined && total === undefined)) return undefined;
  const output = Math.max(completion ?? 0, (total ?? 0) - input);
  if (input + output === 0) return undefined;
  const promptDetails = usage["prompt_tokens_details"];
  const completionDetails = usage["completion_tokens_details"];
  const cached =
    (isRecord(promptDetails) ? readTokenCount(promptDetails["cached_tokens"]) : undefined) ??
    readTokenCount(usage["prompt_cache_hit_tokens"]) ??
    0;
  const written = isRecord(promptDetails) ? (readTokenCount(promptDetails["cache_write_tokens"]) ?? 0) : 0;
  const reasoning =
    (isRecord(completionDetails) ? readTokenCount(completionDetails["reasoning_tokens"]) : undefined) ?? 0;
  const cachedInput = Math.min(cached, input);
  return {
    input,
    cachedInput,
    ...(written === 0 ? undefined : { cacheWrite: Math.min(written, input - cachedInput) }),
    output,
    reasoning: Math.min(reasoning, output),
  };
}

/** Of a response that is no text: there is no output to count. Some servers report only the total. */
export function readPromptUsage(usage: unknown): TokenCounts | undefined {
  if (!isRecord(usage)) return undefined;
  const prompt = usage["prompt_tokens"] ?? usage["total_tokens"];
  return readUsage({ ...usage, prompt_tokens: prompt, completion_tokens: 0, total_tokens: prompt });
}

export function toUsageObject(tokens: TokenCounts): UsageObject {
  return {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
  };
}

/** Whether the three counts that clients require are there. */
export function hasUsageTotals(usage: unknown): boolean {
  return (
    isRecord(usage) &&
    Number.isInteger(usage["prompt_tokens"]) &&
    Number.isInteger(usage["completion_tokens"]) &&
    Number.isInteger(usage["total_tokens"])
  );
}

/** The `usage` without counts that cannot be any, and without the members that a dialect hides; the same object when there is nothing to leave out. */
export function visibleUsage(reported: unknown, dialect: Dialect | undefined): unknown {
  const usage = soundUsage(reported);
  const hidden = dialect?.hiddenUsage;
  if (hidden === undefined || !isRecord(usage) || !hidden.some((name) => name in usage)) return usage;
  return Object.fromEntries(Object.entries(usage).filter(([name]) => !hidden.includes(name)));
}
