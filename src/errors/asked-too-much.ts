import { isError } from "../host-code/thrown.js";
import { GatewayError } from "./gateway-error.js";
import { QuietError } from "./quiet-error.js";

/** The cause of an error for a response that is what its request asks for, and more than the gateway can pass on. */
class AskedTooMuch extends QuietError {
  override readonly name = "AskedTooMuch";
}

/**
 * The upstream has done its work, which is charged, and nobody gets it. No other target does it again, and no client should
 * by itself: it would be as large as before.
 * @param problem - for the operator.
 */
export function askedTooMuch(problem: string): GatewayError {
  return new GatewayError(
    "The model's answer is too large to be passed on. It was made, and is charged. Ask for less at once.",
    {
      ...{ status: 400, code: "answer_too_large", headers: { "x-should-retry": "false" } },
      cause: new AskedTooMuch(problem),
    },
  );
}

/** Also of one from another copy of this package. */
export function isAskedTooMuch({ cause }: GatewayError): boolean {
  return isError(cause) && cause.name === "AskedTooMuch";
}
