import { isError } from "../host-code/thrown.js";
import { GatewayError } from "./gateway-error.js";
import { QuietError } from "./quiet-error.js";

/** The cause of a refusal that lies in where the request went: it is in order, and another target may well do it. */
class TargetLimit extends QuietError {
  override readonly name = "TargetLimit";
}

/** A 400 for what this target cannot do at all. */
export function beyondTarget(param: string | null, message: string, code = "invalid_value"): GatewayError {
  return new GatewayError(message, { status: 400, code, param, cause: new TargetLimit(message) });
}

/** Also of one from another copy of this package. */
export function isBeyondTarget({ cause }: GatewayError): boolean {
  return isError(cause) && cause.name === "TargetLimit";
}
