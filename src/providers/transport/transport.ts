import type { DirectResponse, HandoverListener, RequestBytes } from "../direct-call.js";
import type { AbortNotice } from "../upstream-provider.js";

/** Carries JSON requests to one origin. Two implementations: undici on Node, `fetch` everywhere else. */
export interface Transport {
  /**
   * Posts a body; resolves as soon as status and headers are known. Follows no redirects and retries nothing, as a model
   * may have run although no byte of its response arrived; but see docs/decisions/0008-kept-connections.md.
   * @throws {@link UpstreamError}
   */
  send(request: TransportRequest): Promise<DirectResponse>;
  /** Closes idle connections; those in use close when their responses end. The transport stays usable. */
  close(): Promise<void>;
}

/** One POST request. */
export interface TransportRequest {
  /** Path and query, behind the origin. */
  path: string;
  /** Names in lower case, all values valid. */
  headers: Readonly<Record<string, string>>;
  body: RequestBytes;
  /** Ends the call at once. */
  signal: AbortNotice;
  /**
   * Notified when the request goes out. `fetch` does not show when it is connected: there it is when `fetch` is called.
   */
  handover?: HandoverListener | undefined;
}

/** Where a transport leads, and how patient it is. */
export interface TransportOptions {
  /** Scheme, host and port, such as `https://api.openai.com`. */
  origin: string;
  /**
   * How long a connection may take to come up, in milliseconds. `fetch` does not show that, so there it counts as part
   * of the first byte.
   */
  connectTimeoutMs: number;
  /** How long the status line may take from the moment of sending, in milliseconds, connecting and waiting for a connection included. */
  firstByteTimeoutMs: number;
  /** How long the body may stay silent, in milliseconds. Time in which we do not read does not count. */
  idleTimeoutMs: number;
  /** The most connections open at once. Not known to `fetch`. */
  maxConnections?: number | undefined;
  /** Used by the `fetch` transport in place of the global one. */
  fetch?: typeof globalThis.fetch | undefined;
}

/**
 * When the reader discards a response before its end, the transport reads and throws away the rest for this long, in
 * milliseconds, so that the connection can be used again. A stream that was discarded at its last event ends within
 * this time.
 */
export const leftoverMs = 500;

/** The most bytes that are thrown away; a longer rest costs more than a new connection. */
export const leftoverBytes = 64 * 1024;
