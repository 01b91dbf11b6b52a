import type { LoadRoom, ModelTraits, OperationServices, RequestFacts } from "./operation.js";

/** A request to count the tokens of a prompt, understood. */
export interface CountedRequest {
  readonly model: string;
  /** The body of the response, as JSON text. @throws GatewayError */
  count(model: ModelTraits, room: LoadRoom): string | Promise<string>;
}

/** Reads a request that counts tokens. @throws GatewayError 400 */
export type CountRequest = (
  body: Uint8Array,
  services: OperationServices,
  facts: RequestFacts,
) => Promise<CountedRequest>;
