import { readTokenCount, type TokenCounts } from "../../metering/token-counts.js";
import { isRecord } from "../../wire/is-record.js";

/** The `usage` object of a response (OpenAI reference, "ResponseUsage"). Clients fail when a member is absent. */
export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

/** @returns `undefined` when it cannot be charged: absent, incomplete, malformed, or all zero. */
export function readResponsesUsage(usage: unknown): TokenCounts | undefined {
  if (!isRecord(usage)) return undefined;
  const input = readTokenCount(usage["input_tokens"]);
  const total = readTokenCount(usage["total_tokens"]);
  const reported = readTokenCount(usage["output_tokens"]);
  if (input === undefined || (reported === undefined && total === undefined)) return undefined;
  const output = Math.max(reported ?? 0, (total ?? 0) - input);
  if (input + output === 0) return undefined;
  const cachedInput = Math.min(detail(usage["input_tokens_details"], "cached_tokens"), input);
  const written = Math.min(detail(usage["input_tokens_details"], "cache_write_tokens"), input - cachedInput);
  return {
    input,
    cachedInput,
    ...(written === 0 ? undefined : { cacheWrite: written }),
    output,
    reasoning: Math.min(detail(usage["output_tokens_details"], "reasoning_tokens"), output),
  };
}

export function toResponseUsage(tokens: TokenCounts): ResponseUsage {
  return {
    input_tokens: tokens.input,
    input_tokens_details: { cached_tokens: tokens.cachedInput, cache_write_tokens: tokens.cacheWrite ?? 0 },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.input + tokens.output,
  };
}

/** Whether the counts that clients require are there, in the object and in its details. */
export function isWholeUsage(usage: unknown): boolean {
  return (
    isRecord(usage) &&
    Number.isInteger(usage["input_tokens"]) &&
    Number.isInteger(usage["output_tokens"]) &&
    Number.isInteger(usage["total_tokens"]) &&
    hasDetail(usage["input_tokens_details"], "cached_tokens") &&
    hasDetail(usage["output_tokens_details"], "reasoning_tokens")
  );
}

function hasDetail(details: unknown, name: string): boolean {
  return details === undefined || details === null || (isRecord(details) && Number.isInteger(details[name]));
}

function detail(details: unknown, name: string): number {
  return (isRecord(details) ? readTokenCount(details[name]) : undefined) ?? 0;
}
