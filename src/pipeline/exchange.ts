import type { AbortNotice } from "../providers/upstream-provider.js";

/**
 * A request as the pipeline reads it: what every host can give without building a web `Request`.
 * Adapters make it; nothing else does.
 */
export interface GatewayRequest {
  /** Upper case. */
  readonly method: string;
  /** The undecoded path, from where the gateway is mounted; without query. Starts with `/`. */
  readonly path: string;
  /** The header's value. A header that came twice is joined with `, `. `name` is in lower case. */
  header(name: string): string | undefined;
  /**
   * Reads the whole body, at most `maxBytes`, within `timeoutMs`.
   * @throws {@link BodyError}
   */
  body(limits: { maxBytes: number; timeoutMs: number }): Promise<Uint8Array>;
  /** Aborted when the client has gone before the answer was complete. */
  readonly signal: AbortNotice;
}

/** An answer, for an adapter to write. */
export interface GatewayResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /**
   * An iterable is a stream: the adapter writes each piece at once, asks for the next only when the client has
   * taken it, and calls `return()` when the client has gone.
   */
  body: string | Uint8Array | AsyncIterable<Uint8Array> | null;
}

/** `too_large`: over the limit, known from the length or on the way. `too_slow`: not complete in time. `aborted`: the client left. */
export type BodyFailure = "too_large" | "too_slow" | "aborted";

/** The request's body cannot be had. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly failure: BodyFailure;

  constructor(failure: BodyFailure, options?: { cause?: unknown }) {
    super(`The request body is ${failure}.`, options);
    this.failure = failure;
  }
}

/** Also true for one from another copy of this package, such as its CommonJS build beside the ESM one. */
export function isBodyError(value: unknown): value is BodyError {
  return value instanceof BodyError || (value instanceof Error && value.name === "BodyError");
}
