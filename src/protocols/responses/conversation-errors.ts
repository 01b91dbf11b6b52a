import { GatewayError, invalidValue } from "../../errors/gateway-error.js";
import type { ResponsesRequest } from "./responses-request.js";

/**
 * A 400 for a reference to an item that is not kept.
 * @param why - a sentence, where it is known.
 */
export function itemNotFound(id: string, index: number, why?: string): GatewayError {
  return new GatewayError(
    because(
      `Item with id '${id.slice(0, 200)}' not found.`,
      why,
      "Send the items themselves as input; with the AI SDK, set providerOptions.openai.store to false.",
    ),
    { status: 400, code: "item_not_found", param: `input[${index}].id` },
  );
}

/**
 * A 400 for a request that continues a response that is not kept.
 * @param why - a sentence, where it is known.
 */
export function previousResponseNotFound(id: string, why?: string): GatewayError {
  return new GatewayError(
    because(
      `Previous response with id '${id.slice(0, 200)}' not found.`,
      why,
      "Send the items of the conversation as input.",
    ),
    { status: 400, code: "previous_response_not_found", param: "previous_response_id" },
  );
}

/**
 * A 404 for a response that is not kept, or belongs to another account.
 * @param why - a sentence, where it is known.
 */
export function responseNotFound(id: string, why?: string): GatewayError {
  const message = because(`Response with id '${id.slice(0, 200)}' not found.`, why);
  return new GatewayError(message, { status: 404, code: "not_found" });
}

/** A 400 for a conversation that is larger than a request may be. */
export function conversationTooLong(
  { previousResponseId }: Pick<ResponsesRequest, "previousResponseId">,
  maxBytes: number,
): GatewayError {
  const message = `The conversation is larger than ${maxBytes} bytes. Begin a new one, or send fewer items.`;
  return invalidValue(previousResponseId === undefined ? "input" : "previous_response_id", message);
}

function because(...sentences: (string | undefined)[]): string {
  return sentences.filter((sentence) => sentence !== undefined).join(" ");
}
