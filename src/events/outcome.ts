import type { GatewayError } from "../errors/gateway-error.js";
import { isRefusal } from "../errors/provider-refusal.js";
import type { Disconnect, EndReason } from "../metering/outcome.js";

/** How a call ended. The meter computes its cost. */
export interface Outcome {
  readonly reason: EndReason;
  /** The error that the client got, if any. */
  readonly error?: GatewayError;
  /** What happened to the response after its client left; absent: it was aborted at once. */
  readonly disconnect?: Disconnect;
}

/** The end reason for this error of the upstream or its provider. */
export function endReasonOf(error: GatewayError): EndReason {
  const { status } = error;
  if (isRefusal(error)) return "upstream_refused";
  if (status === 504) return "upstream_timeout";
  return status < 500 ? "upstream_refused" : "upstream_failed";
}
