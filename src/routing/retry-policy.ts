import type { GatewayError } from "../errors/gateway-error.js";
import { isRefusal } from "../errors/provider-refusal.js";
import { isBeyondTarget } from "../errors/target-limit.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import { isUpstreamError } from "../providers/upstream-provider.js";

/**
 * What may help after a failed attempt. `again`: the same target after a pause, or another one. `elsewhere`: another
 * target only, since this one would fail in the same way. `none`: nothing. Either the client's request is at fault, or
 * the host's own provider has refused it.
 */
export type Remedy = "again" | "elsewhere" | "none";

export function remedyOf(error: GatewayError): Remedy {
  const { status, cause } = error;
  if (isRefusal(error)) return "none";
  if (isBeyondTarget(error)) return "elsewhere";
  if (cause instanceof UpstreamStatusError && status >= 429) {
    const passes = cause.status === 408 || cause.status === 429 || cause.status >= 500;
    // Whatever the status: an upstream that refuses the gateway's own account there refuses it again.
    return passes && !isFinal(error) ? "again" : "elsewhere";
  }
  if (status === 429 || status === 504) return "again";
  if (status < 500) return "none";
  return isUpstreamError(cause) ? "again" : "elsewhere";
}

/**
 * Of several failures, returns the one for the client: the last one that a retry by the client may fix, else the last
 * one.
 */
export function preferRetryable(earlier: GatewayError | undefined, later: GatewayError): GatewayError {
  if (earlier === undefined) return later;
  return isFinal(later) && !isFinal(earlier) ? earlier : later;
}

function isFinal(error: GatewayError): boolean {
  return error.headers["x-should-retry"] === "false" || isBeyondTarget(error);
}
