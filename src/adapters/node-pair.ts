import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request of `node:http`, or of the compatibility API of `node:http2`. */
export type NodeIncoming = IncomingMessage | Http2ServerRequest;

/** A response of `node:http`, or of the compatibility API of `node:http2`. */
export type NodeOutgoing = ServerResponse | Http2ServerResponse;

export interface NodePair {
  readonly req: NodeIncoming;
  readonly res: NodeOutgoing;
  /** What the framework calls the request. Absent: `req` itself. */
  readonly raw?: unknown;
}
