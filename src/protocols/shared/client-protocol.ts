import type { GatewayError } from "../../errors/gateway-error.js";

/** A model of the catalog, as lists show it. */
export interface ShownModel {
  readonly id: string;
  /** The alias that is shown; absent: its id is. */
  readonly alias?: string | undefined;
  readonly contextLength: number;
  readonly maxOutputTokens: number | undefined;
  /** OpenAI's model record with the gateway's own members, as JSON text. */
  readonly record: string;
}

/** Gives the headers of a request. Names are in lower case. */
export interface HeaderSource {
  header(name: string): string | undefined;
}

/** What differs by client family and has nothing to do with models. */
export interface ClientProtocol {
  /**
   * The API key that the request carries.
   * @throws GatewayError 401 when there is none, or it is malformed.
   */
  credential(request: HeaderSource): string;
  /** The header of every response in which its clients look for the request's id, beside `x-request-id`. */
  readonly requestIdHeader?: string;
  /** The headers of an error response, the error's own among them. Absent: these alone. */
  errorHeaders?(error: GatewayError): Record<string, string>;
  /** The body of an error response, as JSON text, but for the request's id: equal errors have equal ones. */
  errorBody(error: GatewayError): string;
  /** Adds the request's id to the body of an error response. Absent: bodies do not name it. */
  nameRequest?(body: string, requestId: string): string;
  /** One model, as JSON text. */
  modelRecord(model: ShownModel): string;
  /** The list of models, as JSON text. */
  modelList(models: readonly ShownModel[]): string;
}
