import { type GatewayError, serviceUnavailable, upstreamTimeout } from "../../errors/gateway-error.js";
import type { AbortReason } from "../open-calls.js";

/** What the client of a call that was broken off is told. @returns `undefined`: nobody is there to be told. */
export function abortError(reason: AbortReason): GatewayError | undefined {
  switch (reason) {
    case "shutdown":
      return shuttingDown();
    case "upstream_timeout":
      return upstreamTimeout(new Error("The answer took longer than maxAnswerMs allows."));
    default:
      return undefined;
  }
}

export function shuttingDown(): GatewayError {
  return serviceUnavailable("The gateway is shutting down. Try again shortly.");
}
