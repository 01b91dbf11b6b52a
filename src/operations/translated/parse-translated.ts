import { type ChatRequest, parseChatRequest } from "../../openai/chat/chat-request.js";
import { deepestBody } from "../../openai/request/deepest-body.js";

/** A translation puts what it was given under a few levels more. */
const mostDepth = deepestBody + 64;

/** Reads a chat completion's request that a translation has written. @param bytes - JSON. */
export function parseTranslated(bytes: Uint8Array): ChatRequest {
  return parseChatRequest(bytes, mostDepth);
}
