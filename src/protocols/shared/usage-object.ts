import { readTokenCount, soundUsage, type TokenCounts, type UsageCounts } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";
import type { Dialect } from "./dialect.js";
import { readReport } from "./usage-tally.js";

/** The `usage` object of a chat completion (OpenAI reference, "CompletionUsage"), as the gateway itself writes it. */
interface UsageObject {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** @returns `undefined` where a half of it is not counted: absent, incomplete, malformed, or all zero. */
export function readUsage(usage: unknown): UsageCounts | undefined {
  const report = readReport(usage);
  return report?.hasInput && report.hasOutput ? report.tokens : undefined;
}

/** Of a response that is no text: there is no output to count. Some servers report only the total. */
export function readPromptUsage(usage: unknown): UsageCounts | undefined {
  const report = readReport(usage);
  const total = isRecord(usage) ? readTokenCount(usage["total_tokens"]) : undefined;
  const input = report?.hasInput ? report.tokens.input : total;
  if (input === undefined || input === 0) return undefined;
  return { input, cachedInput: Math.min(report?.tokens.cachedInput ?? 0, input), output: 0, reasoning: 0 };
}

export function toUsageObject(tokens: TokenCounts): UsageObject {
  return {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
  };
}

/**
 * Whether the three counts that clients require are there, and are those that are charged: a server may count the caches
 * or the reasoning in the total alone.
 */
export function hasUsageTotals(usage: unknown, charged: Pick<TokenCounts, "input" | "output">): boolean {
  return (
    isRecord(usage) &&
    usage["prompt_tokens"] === charged.input &&
    usage["completion_tokens"] === charged.output &&
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

/** The `usage` of a chat completion with all that is known of a message's. */
export interface DetailedUsage extends UsageObject {
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

export function toChatUsage(tokens: TokenCounts): DetailedUsage {
  return {
    ...toUsageObject(tokens),
    prompt_tokens_details: { cached_tokens: tokens.cachedInput, cache_write_tokens: tokens.cacheWrite ?? 0 },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
  };
}
