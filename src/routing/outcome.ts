import type { GatewayError } from "../errors/gateway-error.js";
import type { Disconnect, EndReason } from "../metering/outcome.js";
import { isRefusal } from "./provider-refusal.js";

/** What a call has come to when its answer has ended. What it costs is its meter's. */
export interface Outcome {
  reason: EndReason;
  /** What the client was told, unless all went well. */
  error?: GatewayError;
  /** What became of the answer when its client left; absent: it was broken off at once. */
  disconnect?: Disconnect;
}

/** How a call ended that the upstream, or its provider, ended by this error. */
export function endReasonOf(error: GatewayError): EndReason {
  const { status } = error;
  if (isRefusal(error)) return "upstream_refused";
  if (status === 504) return "upstream_timeout";
  return status < 500 ? "upstream_refused" : "upstream_failed";
}
