/**
 * What spans and metrics are named. No name of GenAI is stable yet: those that begin with `gen_ai.` are of version 1.41 of
 * OpenTelemetry's semantic conventions, and follow them. Those that begin with `infergate.` stay.
 */
export const names = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  stream: "gen_ai.request.stream",
  responseId: "gen_ai.response.id",
  finishReasons: "gen_ai.response.finish_reasons",
  firstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  systemInstructions: "gen_ai.system_instructions",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  tokenType: "gen_ai.token.type",
  errorType: "error.type",
  status: "http.response.status_code",
  model: "infergate.model",
  requestId: "infergate.request.id",
  endpoint: "infergate.endpoint",
  account: "infergate.account",
  keyId: "infergate.key.id",
  plan: "infergate.plan",
  charged: "infergate.charged_micro",
  cost: "infergate.cost_micro",
  held: "infergate.held_micro",
  usageSource: "infergate.usage_source",
  images: "infergate.usage.images",
  audioMs: "infergate.usage.audio_ms",
  characters: "infergate.usage.characters",
  searches: "infergate.usage.searches",
  endReason: "infergate.end_reason",
  disconnect: "infergate.disconnect",
  attempts: "infergate.attempts",
  errorCode: "infergate.error.code",
  outcome: "infergate.outcome",
  shard: "infergate.ledger.shard",
  ledgerOperation: "infergate.ledger.operation",
  ledgerOutcome: "infergate.ledger.outcome",
  upstreamId: "infergate.upstream.request_id",
} as const;

/** What all protocols of conversations do is `chat`. */
export function operationOf(endpoint: string): string {
  return conventional.get(endpoint) ?? endpoint;
}

const conventional: ReadonlyMap<string, string> = new Map([
  ["chat/completions", "chat"],
  ["responses", "chat"],
  ["messages", "chat"],
  ["completions", "text_completion"],
]);
