import type { AttemptContext } from "../../src/protocols/shared/exchange.js";

/** What is known of an attempt, for tests of what reads its response. */
export function answerContext(overrides: Partial<AttemptContext> = {}): AttemptContext {
  return {
    requestId: "req_own",
    callId: "req_own",
    model: "acme/small",
    upstreamModel: "small",
    promptTokens: 7,
    outputCap: 1000,
    promptParam: "messages",
    admittedAt: 1_700_000_000_000,
    startedAt: 0,
    dialect: undefined,
    secrets: undefined,
    ...overrides,
  };
}
