import type { GatewayError } from "../errors/gateway-error.js";
import { isRefusal } from "../errors/provider-refusal.js";
import { isBeyondTarget } from "../errors/target-limit.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import { isUpstreamError } from "../providers/upstream-provider.js";

/**
 * What may mend a failed attempt. `again`: the same target, a little later, or another one. `elsewhere`: another target
 * only, since this one would fail the same way. `none`: nothing, because the fault is the client's, or because the host's
 * provider has said the last word.
 */
export type Remedy = "again" | "elsewhere" | "none";

export function remedyOf(error: GatewayError): Remedy {
  const { status, cause } = error;
  if (isRefusal(error)) return "none";
  if (isBeyondTarget(error)) return "elsewhere";
  if (cause instanceof UpstreamStatusError && status >= 429) {
    const passes = cause.status === 408 || cause.status === 429 || cause.status >= 500;
    // Our own quota is a 429 of the upstream's, too, but none of ours.
    return passes && (status !== 502 || cause.status !== 429) ? "again" : "elsewhere";
  }
  if (status === 429 || status === 504) return "again";
  if (status < 500) return "none";
  return isUpstreamError(cause) ? "again" : "elsewhere";
}

/** The failure that a client gets to see of several: the last one that it can mend by trying again, else the last. */
export function preferRetryable(earlier: GatewayError | undefined, later: GatewayError): GatewayError {
  if (earlier === undefined) return later;
  return isFinal(later) && !isFinal(earlier) ? earlier : later;
}

function isFinal(error: GatewayError): boolean {
  return error.headers["x-should-retry"] === "false" || isBeyondTarget(error);
}
