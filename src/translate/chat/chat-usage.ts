import type { TokenCounts } from "../../metering/token-counts.js";
import { toUsageObject, type UsageObject } from "../../model-api/answer/usage.js";

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
