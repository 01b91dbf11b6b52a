import type { GatewayError } from "../errors/gateway-error.js";
import { isRefusal } from "../errors/provider-refusal.js";
import type { Disconnect, EndReason } from "../metering/outcome.js";

/** How a call ended. What it costs is its meter's. */
export interface Outcome {
  readonly reason: EndReason;
  /** The error that the client got, unless all went well. */
  readonly error?: GatewayError;
  /** How the response went on after its client left; absent: it was broken off at once. */
  readonly disconnect?: Disconnect;
}

/** The reason for an end by this error, of the upstream or its provider. */
export function endReasonOf(error: GatewayError): EndReason {
  const { status } = error;
  if (isRefusal(error)) return "upstream_refused";
  if (status === 504) return "upstream_timeout";
  return status < 500 ? "upstream_refused" : "upstream_failed";
}
