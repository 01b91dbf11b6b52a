import type { AbortNotice } from "../providers/upstream-provider.js";
import { isError } from "../runtime/host-code.js";
import type { TrustingRequest } from "./host-request.js";

/**
 * A request as the pipeline reads it: what every host can give without building a web `Request`.
 * Adapters make it; nothing else does.
 */
export interface GatewayRequest {
  /** Upper case. */
  readonly method: string;
  /** The undecoded path, from where the gateway is mounted; without query. Starts with `/`. */
  readonly path: string;
  /** The undecoded query, without its question mark. Absent or empty: there is none. */
  readonly query?: string;
  /** The header's value. A header that came twice is joined with `, `. `name` is in lower case. */
  header(name: string): string | undefined;
  /**
   * Reads the whole body.
   * @throws {@link BodyError}
   */
  body(limits: BodyLimits): Promise<Uint8Array>;
  /**
   * Reads the whole body, without joining the pieces in which it comes.
   * @throws {@link BodyError}
   */
  bodyInPieces(limits: BodyLimits): Promise<readonly Uint8Array[]>;
  /** Whether the host's own code has begun to read the body, so that {@link GatewayRequest.body} lacks what it took. */
  readonly isBodyTaken?: boolean;
  /** The request for the host's own code, made when asked for. Absent or `undefined` for calls within this process. */
  hostRequest?(): TrustingRequest | undefined;
  /** Aborted when the client has gone before the response was complete. */
  readonly signal: AbortNotice;
  /** The client counts as gone because it took nothing of its response for too long. */
  readonly stalled?: boolean;
  /** The host's own, where it ends with its responses. */
  readonly waitUntil?: WaitUntil | undefined;
}

/** Tells a host of work that it should not end before: `waitUntil` of Workers and of Vercel, `after` of Next.js. */
export type WaitUntil = (work: Promise<unknown>) => void;

/** What is known of a request before its body is read. */
export type RequestHead = Pick<GatewayRequest, "method" | "path" | "header">;

/** The limits of a request's body. */
export interface BodyLimits {
  /** The largest body. */
  readonly maxBytes: number;
  /** How long it may take to arrive, in milliseconds. */
  readonly timeoutMs: number;
  /** A slower one is given up before that; 0: none is. */
  readonly minBytesPerSecond: number;
  /**
   * Counts the bytes of a body that did not come with its headers, piece by piece.
   * @returns why the body may not be read any further, if so.
   */
  arrived(bytes: number): BodyFailure | undefined;
}

/** A response, for an adapter to write. */
export interface GatewayResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /**
   * An iterable is a stream: the adapter writes each piece at once, pulls the next only when the client has taken it,
   * and calls `return()` when the client has gone.
   */
  body: string | Uint8Array | AsyncIterable<Uint8Array> | null;
}

/**
 * `too_large`: over the limit, known from the length or on the way. `too_slow`: not complete in time, or slower than is
 * allowed. `aborted`: the client left. `over_share`, `no_room`: too many bytes of the account's bodies, or of all bodies,
 * wait for their calls to be admitted. `no_bytes`: the host has made a stream of it that brings something else than bytes.
 */
export type BodyFailure = "too_large" | "too_slow" | "aborted" | "over_share" | "no_room" | "no_bytes";

/** The request's body cannot be read. */
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
  return isError(value) && (value instanceof BodyError || value.name === "BodyError");
}
