import type { UsageCounts } from "../metering/usage-counts.js";
import { badGateway, type GatewayError } from "./gateway-error.js";
import { UpstreamStatusError } from "./upstream-status-error.js";

/** An upstream's 200 that is no response to the request. @param used - what it reported as used all the same. */
export function notAResponse(used?: UsageCounts): GatewayError {
  const message = "The upstream's answer is none to this request. Check the provider's base URL.";
  return badGateway("The model did not answer. Try again.", { cause: new UpstreamStatusError(200, message, { used }) });
}
