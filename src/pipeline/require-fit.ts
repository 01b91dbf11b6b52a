import type { ChatRequest } from "../openai/chat-request.js";
import { GatewayError } from "../openai/errors.js";
import { refuseLacking } from "../openai/lacking.js";
import { countedTokens, leastTokens } from "../openai/least-tokens.js";
import type { CatalogModel } from "./catalog.js";

/**
 * Refuses what the model could not answer, before anything is held or called.
 * @throws GatewayError 400
 */
export function requireFit(chat: ChatRequest, model: CatalogModel): void {
  const { id, lacking, contextLength, enforcesContext, tokenizer } = model;
  if (lacking !== undefined) refuseLacking(chat, id, lacking);
  if (!enforcesContext) return;
  if (leastTokens(chat, contextLength) <= contextLength) {
    if (tokenizer === undefined || countedTokens(chat, contextLength, tokenizer) <= contextLength) return;
  }
  throw new GatewayError(
    `This model's maximum context length is ${contextLength} tokens, and your messages have more. Shorten them.`,
    { status: 400, code: "context_length_exceeded", param: "messages" },
  );
}
