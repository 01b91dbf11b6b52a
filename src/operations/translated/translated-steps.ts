import { deepestBody } from "../../model-api/request/deepest-body.js";
import { type ChatRequest, chatRequestSteps } from "../../openai/chat/chat-request.js";
import type { Steps } from "../../wire/slices.js";

/** A translation puts what it was given under a few levels more. */
const mostDepth = deepestBody + 64;

/** Reads a chat completion's request that a translation has written. @param bytes - JSON. */
export function translatedSteps(bytes: Uint8Array): Steps<ChatRequest> {
  return chatRequestSteps(bytes, mostDepth);
}
