import { parseChatRequest } from "../../src/protocols/chat/chat-request.js";
import { promptTokens } from "../../src/protocols/shared/prompt-tokens.js";
import { resolveTokenBounds } from "../../src/tokens/tokenizer.js";
import { atOnce } from "../../src/wire/slices.js";

/** What is held for a prompt of a model of 128,000 tokens, and charged where no usage is reported. */
export function promptEstimate(body: string): number {
  const limits = { contextLength: 128_000, tokenizer: undefined, tokenBounds: resolveTokenBounds() };
  return promptTokens(atOnce(parseChatRequest(Buffer.from(body), 256)), limits).tokens;
}
