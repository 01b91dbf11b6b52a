import type { UsageCounts } from "../prices/usage-counts.js";
import { badGateway, type GatewayError } from "./gateway-error.js";

/** What an upstream's error answer said, for the operator and for whoever decides about another attempt. */
export class UpstreamStatusError extends Error {
  override readonly name = "UpstreamStatusError";
  /** The HTTP status, or the one that an error inside a 200 amounts to. */
  readonly status: number;
  /** How long the upstream asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** What it reported as used although it failed. */
  readonly used: UsageCounts | undefined;
  /**
   * Whether the upstream refused the key, or the account behind it, and not the request. `unsure`: it may be either, as for a
   * 403 that says nothing more, or a model that the key may not have.
   */
  readonly refusesKey: boolean | "unsure";
  /** Private, so that logs of the error do not show it. */
  readonly #said: string | undefined;

  constructor(
    status: number,
    message: string,
    details: {
      retryAfterMs?: number | undefined;
      used?: UsageCounts | undefined;
      said?: string | undefined;
      refusesKey?: boolean | "unsure";
    } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfterMs = details.retryAfterMs;
    this.used = details.used;
    this.refusesKey = details.refusesKey ?? false;
    this.#said = details.said;
  }

  /** The upstream's own words without keys, for the operator. */
  get said(): string | undefined {
    return this.#said;
  }
}

/** An upstream's 200 that is no response to the request. @param used - what it reported as used all the same. */
export function notAResponse(used?: UsageCounts): GatewayError {
  const message = "The upstream's answer is none to this request. Check the provider's base URL.";
  return badGateway("The model did not answer. Try again.", { cause: new UpstreamStatusError(200, message, { used }) });
}

/** `garbage`: no events of this protocol, or more than any response has. `incomplete`: the stream stopped before its end. */
type StreamFaultReason = "garbage" | "incomplete";

/** The upstream's stream cannot be passed on any further. */
export class StreamFault extends Error {
  override readonly name = "StreamFault";
  readonly reason: StreamFaultReason;

  constructor(reason: StreamFaultReason) {
    super(`The upstream's stream is faulty: ${reason}.`);
    this.reason = reason;
  }
}
