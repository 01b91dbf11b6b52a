import { isError } from "../host-code/thrown.js";
import type { UsageCounts } from "../metering/usage-counts.js";
import { GatewayError } from "./gateway-error.js";
import { QuietError } from "./quiet-error.js";

/** The cause of an error for a response that is what its request asks for, and more than the gateway can pass on. */
class AskedTooMuch extends QuietError {
  override readonly name = "AskedTooMuch";
  readonly used: UsageCounts | undefined;

  constructor(problem: string, used: UsageCounts | undefined) {
    super(problem);
    this.used = used;
  }
}

/**
 * The upstream has done its work, which is charged, and nobody gets it. No other target does it again, and no client should
 * by itself: it would be as large as before.
 * @param problem - for the operator.
 * @param used - what the upstream reports as used; `undefined`: nothing.
 */
export function askedTooMuch(problem: string, used?: UsageCounts): GatewayError {
  return new GatewayError(
    "The model's answer is too large to be passed on. It was made, and is charged. Ask for less at once.",
    {
      ...{ status: 400, code: "answer_too_large", headers: { "x-should-retry": "false" } },
      cause: new AskedTooMuch(problem, used),
    },
  );
}

/** Also of one from another copy of this package. */
export function isAskedTooMuch({ cause }: GatewayError): boolean {
  return isError(cause) && cause.name === "AskedTooMuch";
}

/** What the upstream reported as used for {@link askedTooMuch}; `undefined`: nothing. */
export function usedForTooMuch({ cause }: GatewayError): UsageCounts | undefined {
  return cause instanceof AskedTooMuch ? cause.used : undefined;
}
