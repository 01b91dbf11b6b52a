import type { UsageCounts } from "../metering/usage-counts.js";

/** What an upstream's error answer said, for the operator and for whoever decides about another attempt. */
export class UpstreamStatusError extends Error {
  override readonly name = "UpstreamStatusError";
  /** The HTTP status, or the one that an error inside a 200 amounts to. */
  readonly status: number;
  /** How long the upstream asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** What it reported as used although it failed. */
  readonly used: UsageCounts | undefined;
  /** Private, so that logs of the error do not show it. */
  readonly #said: string | undefined;

  constructor(
    status: number,
    message: string,
    details: { retryAfterMs?: number | undefined; used?: UsageCounts | undefined; said?: string | undefined } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfterMs = details.retryAfterMs;
    this.used = details.used;
    this.#said = details.said;
  }

  /** The upstream's own words without keys, for the operator. */
  get said(): string | undefined {
    return this.#said;
  }
}
