import { GatewayError } from "./gateway-error.js";
import { QuietError } from "./quiet-error.js";

/** The cause of an error for a response that is what its client has asked for, and more than the gateway can pass on. */
class AskedTooMuch extends QuietError {
  override readonly name = "AskedTooMuch";
}

/** The upstream has done its work, which is charged. No other target does it again, and no client should by itself. */
export function askedTooMuch(param: string, message: string): GatewayError {
  const headers = { "x-should-retry": "false" };
  return new GatewayError(message, {
    ...{ status: 400, code: "answer_too_large", param, headers, cause: new AskedTooMuch(message) },
  });
}

/** Also of one from another copy of this package. */
export function isAskedTooMuch({ cause }: GatewayError): boolean {
  return cause instanceof Error && cause.name === "AskedTooMuch";
}
