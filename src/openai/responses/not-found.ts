import { GatewayError } from "../../errors/gateway-error.js";

/** A 400 for a reference to an item that is not kept. */
export function itemNotFound(id: string, index: number): GatewayError {
  return new GatewayError(
    `Item with id '${id.slice(0, 200)}' not found. Send the items themselves as input; with the AI SDK, set ` +
      "providerOptions.openai.store to false.",
    { status: 400, code: "item_not_found", param: `input[${index}].id` },
  );
}

/** A 400 for a request that continues a response that is not kept. */
export function previousResponseNotFound(id: string): GatewayError {
  return new GatewayError(
    `Previous response with id '${id.slice(0, 200)}' not found. Send the items of the conversation as input.`,
    { status: 400, code: "previous_response_not_found", param: "previous_response_id" },
  );
}

/** A 404 for a response that is not kept, or belongs to another account. */
export function responseNotFound(id: string): GatewayError {
  return new GatewayError(`Response with id '${id.slice(0, 200)}' not found.`, { status: 404, code: "not_found" });
}
