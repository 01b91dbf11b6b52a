import { messagesPromptTokens, tokenCountBody } from "../../anthropic/messages/messages-prompt-tokens.js";
import { parseMessages } from "../messages.js";
import type { ModelTraits, OperationServices } from "../operation.js";

/** A request to count the tokens of a prompt, understood. */
export interface CountedRequest {
  readonly model: string;
  /** The body of the response, as JSON text. */
  count(model: ModelTraits): string;
}

/** Reads a request of `POST /v1/messages/count_tokens`. @throws GatewayError 400 */
export async function countMessagesTokens(body: Uint8Array, services: OperationServices): Promise<CountedRequest> {
  const request = await parseMessages(body, services);
  return { model: request.model, count: (model) => tokenCountBody(messagesPromptTokens(request, model)) };
}
