import type { TokenCounts } from "../../metering/token-counts.js";
import { isRecord } from "../../wire/is-record.js";

/** The `usage` object of a response (OpenAI reference, "ResponseUsage"). Clients fail when a member is absent. */
export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
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

/** Whether the counts that clients require are there, in the object and in its details, and are those that are charged. */
export function isWholeUsage(usage: unknown, charged: TokenCounts): boolean {
  return (
    isRecord(usage) &&
    usage["input_tokens"] === charged.input &&
    usage["output_tokens"] === charged.output &&
    Number.isInteger(usage["total_tokens"]) &&
    hasDetail(usage["input_tokens_details"], "cached_tokens") &&
    hasDetail(usage["output_tokens_details"], "reasoning_tokens")
  );
}

function hasDetail(details: unknown, name: string): boolean {
  return details === undefined || details === null || (isRecord(details) && Number.isInteger(details[name]));
}
