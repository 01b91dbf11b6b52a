import { type GatewayError, isGatewayError } from "../errors/gateway-error.js";
import { isBeyondTarget } from "../errors/target-limit.js";

const refusals = new WeakSet<GatewayError>();

/**
 * To be told of whatever a provider has thrown. A {@link GatewayError} among it is the answer that a provider of the
 * host's has chosen for the client: our own errors of the same status speak of the target, these do not.
 */
export function noteRefusal(thrown: unknown): void {
  if (isGatewayError(thrown) && !isBeyondTarget(thrown)) refusals.add(thrown);
}

/** It is final, and says nothing about the target's health. */
export function isRefusal(error: GatewayError): boolean {
  return refusals.has(error);
}
