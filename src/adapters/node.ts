import type { Readable, Stream } from "node:stream";
import { handle, type Mountable, type MountedHandler, tells } from "../gateway/gateway.js";
import { NodeClient } from "./node-client.js";
import type { NodeIncoming, NodeOutgoing, NodePair } from "./node-pair.js";
import { NodeRequest } from "./node-request.js";
import { writeNodeResponse } from "./node-response.js";
import { requireMountable } from "./require-mountable.js";

export type { NodeIncoming, NodeOutgoing } from "./node-pair.js";

/** A request listener for `node:http` and `node:http2`; with `next`, middleware for Connect and what is built on it. */
export type NodeHandler = (req: NodeIncoming, res: NodeOutgoing, next?: (error?: unknown) => void) => void;

/**
 * Mounts the gateway, or a page of `infergate/pages`, in a `node:http` server. Without `next`, a path that is not the gateway's gets its 404; with it,
 * `next()` is called.
 *
 * @example
 * ```ts
 * createServer(toNodeHandler(gateway)).listen(3000);
 * ```
 */
export function toNodeHandler(gateway: Mountable): NodeHandler {
  const mountable = requireMountable("toNodeHandler", gateway);
  const isBelowPrefix = gateway.basePath !== "";
  return (req, res, next) => {
    const path = pathOf(req.url);
    const within = pathWithin(gateway.basePath, path);
    const isOwn = within !== undefined && (gateway.serves(within) || mountable[tells](within, req, isBelowPrefix));
    if (next !== undefined && !isOwn) next();
    else serveNode(mountable, { req, res }, within ?? outsideOf(path));
  };
}

/** A path outside of the base path, so written that no gateway serves it. */
function outsideOf(path: string): string {
  return `/${path}`;
}

/**
 * The one bridge from Node's pair to the gateway and back. Nothing is ever thrown, whatever happens to the connection.
 *
 * @param path - undecoded, without query, from where the gateway is mounted.
 * @param payload - what the host has made of the request's stream, if it is not the request itself.
 */
export function serveNode(gateway: MountedHandler, pair: NodePair, path: string, payload: Readable = pair.req): void {
  const { req, res } = pair;
  ignoreErrors(req);
  ignoreErrors(res);
  const client = new NodeClient(req, res, gateway.maxStallMs);
  // Only a broken connection can notify the client then.
  const fail = (): void => void res.destroy();
  gateway[handle](new NodeRequest(pair, client, path, payload)).then((response) => {
    try {
      writeNodeResponse(req, res, client, response)?.catch(fail);
    } catch {
      fail();
    }
  }, fail);
}

function ignore(): void {}

/** A broken connection is no error of the host's; without a listener it would end the process. */
export function ignoreErrors(stream: Stream): void {
  stream.on("error", ignore);
}

/**
 * The path of a request target, undecoded and without query. The target may come in absolute form (RFC 9112, section
 * 3.2.2). `new URL` is no help: it reads `//v1/models` as the host v1.
 */
export function pathOf(target = "/"): string {
  let start = 0;
  if (target.charCodeAt(0) !== slash) {
    const authority = target.indexOf("://") + 3;
    start = authority < 3 ? 0 : target.indexOf("/", authority);
    if (start < 0) return "/";
  }
  const query = target.indexOf("?", start);
  return query < 0 ? target.slice(start) : target.slice(start, query);
}

/** The path behind `basePath`, or `undefined` when it is not below it: `/api/ai/v10` is not below `/api/ai/v1`. */
export function pathWithin(basePath: string, path: string): string | undefined {
  if (basePath === "") return path;
  if (!path.startsWith(basePath)) return undefined;
  if (path.length === basePath.length) return "/";
  return path.charCodeAt(basePath.length) === slash ? path.slice(basePath.length) : undefined;
}

const slash = 0x2f;
