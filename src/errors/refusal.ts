import type { UsageCounts } from "../prices/usage-counts.js";
import { isError } from "../runtime/host-code.js";
import { GatewayError, isGatewayError, QuietError } from "./gateway-error.js";

/**
 * A fact about each error, kept beside it: it goes from the attempt to observers and counts with the error alone, and the
 * host's error may be frozen, or of another copy of this package. It is forgotten with the error.
 */
const refusals = new WeakSet<GatewayError>();

/**
 * To be called with whatever a provider throws. A {@link GatewayError} that the host's own provider throws is its response
 * to the client. The gateway's own errors of the same status speak of the target; these do not.
 */
export function noteRefusal(thrown: unknown): void {
  if (isGatewayError(thrown) && !isBeyondTarget(thrown)) refusals.add(thrown);
}

/** Whether the error is final, and says nothing about the target's health. */
export function isRefusal(error: GatewayError): boolean {
  return refusals.has(error);
}

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

/** Of the client's errors, those that may be over by themselves. */
const mayPass: ReadonlySet<number> = new Set([408, 409, 429]);

/** Whether the status of a refusal says that the same request would be refused again. */
export function isFinalRefusal(status: number): boolean {
  return status >= 400 && status < 500 && !mayPass.has(status);
}
