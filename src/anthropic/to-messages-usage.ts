import type { TokenCounts } from "../metering/token-counts.js";

/** The `usage` object of a message that the gateway writes itself. */
export function toMessagesUsage(tokens: TokenCounts): Record<string, unknown> {
  const { input, cachedInput, cacheWrite = 0, cacheWrite1h = 0, output, reasoning } = tokens;
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    ...(cacheWrite1h === 0 ? undefined : { cache_creation: cacheCreation(cacheWrite, cacheWrite1h) }),
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
    ...(reasoning === 0 ? undefined : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

function cacheCreation(cacheWrite: number, forHour: number): Record<string, number> {
  return { ephemeral_5m_input_tokens: cacheWrite - forHour, ephemeral_1h_input_tokens: forHour };
}
