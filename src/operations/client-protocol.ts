import type { ErrorObject } from "../errors/gateway-error.js";

/** What differs by client family and has nothing to do with models. */
export interface ClientProtocol {
  /**
   * The API key that the request carries.
   * @param header - gives a header's value; names are in lower case.
   * @throws GatewayError 401 when there is none, or it is malformed.
   */
  credential(header: (name: string) => string | undefined): string;
  /** The body of an error response, as JSON text. */
  errorBody(error: ErrorObject, requestId: string): string;
}
