import { type GatewayError, serviceUnavailable, upstreamTimeout } from "../../errors/gateway-error.js";
import { UpstreamError } from "../../providers/upstream-provider.js";
import type { AbortReason } from "../open-calls.js";

/** The client's error for an aborted call. @returns `undefined` when the client has left. */
export function abortError(reason: AbortReason): GatewayError | undefined {
  switch (reason) {
    case "shutdown":
      return shuttingDown();
    case "upstream_timeout":
      return upstreamTimeout(new Error("The response took longer than maxResponseMs allows."));
    default:
      return undefined;
  }
}

export function shuttingDown(): GatewayError {
  return serviceUnavailable("The gateway is shutting down. Try again shortly.");
}

/** The client has left, so nothing is sent to it. */
export function clientLeft(): UpstreamError {
  return new UpstreamError("aborted", "The client has left.");
}
