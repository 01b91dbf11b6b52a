import type { Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";

/** One request that has reached a fake upstream, with its body read to the end. */
export interface FakeRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent: shows case, order and duplicates. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The body as JSON; throws when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it has sent, and asserts on it
  readonly json: any;
  /** The connection it came on: the same object for two requests means the connection was reused. */
  readonly socket: Socket;
  /** Resolves when the exchange is over: `completed`, or `broken` when the connection closed before the answer's end. */
  readonly closed: Promise<"completed" | "broken">;
}
