import { type GatewayError, isGatewayError } from "./gateway-error.js";
import { isBeyondTarget } from "./target-limit.js";

const refusals = new WeakSet<GatewayError>();

/**
 * To be called with whatever a provider throws. A {@link GatewayError} that the host's own provider throws is its response
 * to the client. The gateway's own errors of the same status speak of the target; these do not.
 */
export function noteRefusal(thrown: unknown): void {
  if (isGatewayError(thrown) && !isBeyondTarget(thrown)) refusals.add(thrown);
}

/** Whether the error is final, and says nothing about the target's health. */
export function isRefusal(error: GatewayError): boolean {
  return refusals.has(error);
}
