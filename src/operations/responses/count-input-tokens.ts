import type { CountedRequest } from "../count-request.js";
import type { LoadRoom, OperationServices, RequestFacts } from "../operation.js";
import { responses } from "./responses.js";

/**
 * Reads a request of `POST /v1/responses/input_tokens`. What it refers to is loaded once its account may use the model.
 * @throws GatewayError 400
 */
export async function countInputTokens(
  body: Uint8Array,
  services: OperationServices,
  facts: RequestFacts,
): Promise<CountedRequest> {
  const request = await responses.parse(body, services, facts);
  return {
    model: request.model,
    async count(model, room: LoadRoom) {
      const whole = (await request.complete?.(room)) ?? request;
      const { heldPromptTokens } = whole.demand(model, undefined);
      return JSON.stringify({
        object: "response.input_tokens",
        input_tokens: Math.max(1, Math.ceil(heldPromptTokens)),
      });
    },
  };
}
