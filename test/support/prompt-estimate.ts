import { promptTokens } from "../../src/model-api/prompt/prompt-tokens.js";
import { parseChatRequest } from "../../src/openai/chat/chat-request.js";
import { resolveTokenBounds } from "../../src/tokens/token-bounds.js";

/** What is held for a prompt of a model of 128,000 tokens, and charged where no usage is reported. */
export function promptEstimate(body: string): number {
  const limits = { contextLength: 128_000, tokenizer: undefined, tokenBounds: resolveTokenBounds() };
  return promptTokens(parseChatRequest(Buffer.from(body), 256), limits).tokens;
}
