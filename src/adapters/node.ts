import type { Readable } from "node:stream";
import type { Gateway } from "../gateway/gateway.js";
import { outside, pathOf, pathWithin } from "../gateway/request-path.js";
import { ClientPresence } from "./client-presence.js";
import type { NodeIncoming, NodeOutgoing } from "./node-pair.js";
import { NodeRequest } from "./node-request.js";
import { writeNodeResponse } from "./node-response.js";

/** A request listener for `node:http` and `node:http2`; with `next`, middleware for Connect and what is built on it. */
export type NodeHandler = (req: NodeIncoming, res: NodeOutgoing, next?: (error?: unknown) => void) => void;

/**
 * Mounts the gateway in a `node:http` server. Without `next`, a path that is not the gateway's gets its 404; with it,
 * `next()` is called.
 *
 * @example
 * ```ts
 * createServer(toNodeHandler(gateway)).listen(3000);
 * ```
 */
export function toNodeHandler(gateway: Gateway): NodeHandler {
  return (req, res, next) => {
    const path = pathOf(req.url ?? "/");
    const within = pathWithin(gateway.basePath, path);
    if (next !== undefined && (within === undefined || !gateway.serves(within))) next();
    else serveNode(gateway, req, res, within ?? outside(path));
  };
}

/**
 * The one bridge from Node's pair to the gateway and back. Whatever happens to the connection, it throws nothing.
 *
 * @param path - undecoded, without query, from where the gateway is mounted.
 * @param payload - what the host has made of the request's stream, if it is not the request itself.
 */
export function serveNode(
  gateway: Gateway,
  req: NodeIncoming,
  res: NodeOutgoing,
  path: string,
  payload: Readable = req,
): void {
  // A broken connection is no error of the host's.
  for (const stream of new Set<Stream>([req, res, payload])) stream.on("error", ignore);
  const client = new ClientPresence(req, res);
  gateway
    .handle(new NodeRequest(req, client, path, payload))
    .then((response) => writeNodeResponse(req, res, client, response))
    // Only a broken connection can tell the client now.
    .catch(() => res.destroy());
}

function ignore(): void {}
