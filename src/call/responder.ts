import type { GatewayResponse } from "../http/message.js";

/** Makes what the client gets of what a call ends with. */
export interface Responder {
  /** Adds what every response has. */
  finish(response: GatewayResponse): GatewayResponse;
  /** The response to what was thrown, or returned as an error. */
  refuse(failure: unknown): GatewayResponse;
}
