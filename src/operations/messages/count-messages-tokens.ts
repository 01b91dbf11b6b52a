import { messagesPromptTokens, tokenCountBody } from "../../anthropic/messages/messages-prompt-tokens.js";
import { refuseThread } from "../../anthropic/messages/refuse-thread.js";
import type { CountedRequest } from "../count-request.js";
import type { OperationServices } from "../operation.js";
import { readMessages } from "./messages.js";

/** Reads a request of `POST /v1/messages/count_tokens`. @throws GatewayError 400 */
export async function countMessagesTokens(
  body: Uint8Array,
  { maxBodyDepth }: OperationServices,
): Promise<CountedRequest> {
  const request = await readMessages(body, maxBodyDepth);
  refuseThread(request);
  return { model: request.model, count: (model) => tokenCountBody(messagesPromptTokens(request, model).tokens) };
}
