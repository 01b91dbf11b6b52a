import type { IncomingMessage, ServerResponse } from "node:http";
import type { Gateway } from "../gateway/gateway.js";
import { isGone, NodeRequest } from "./node-request.js";
import { writeNodeResponse } from "./node-response.js";

/** A request listener for `node:http`; with `next`, middleware for Connect and what is built on it. */
export type NodeHandler = (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void;

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
    const path = pathWithin(gateway.basePath, pathOf(req.url));
    if (next !== undefined && (path === undefined || !gateway.serves(path))) {
      next();
      return;
    }
    serveNode(gateway, req, res, path ?? outside);
  };
}

/** What no gateway serves. */
const outside = "//";

/**
 * The one bridge from Node's pair to the gateway and back.
 * @param path - undecoded, without query, from where the gateway is mounted.
 */
export function serveNode(gateway: Gateway, req: IncomingMessage, res: ServerResponse, path: string): void {
  const request = new NodeRequest(req, res, path, (req as { body?: unknown }).body);
  // While the gateway answers, a broken connection is no error of the host's.
  req.on("error", ignore);
  res.on("error", ignore);
  res.on("close", () => {
    if (isGone(res)) request.abort();
  });
  gateway
    .handle(request)
    .then((response) => writeNodeResponse(req, res, response))
    .catch(() => res.destroy());
}

function ignore(): void {}

/** The path of a request target, which may have come in absolute form (RFC 9112, section 3.2.2). */
export function pathOf(url = "/"): string {
  let start = 0;
  if (url.charCodeAt(0) !== 0x2f && url.includes("://")) {
    start = url.indexOf("/", url.indexOf("://") + 3);
    if (start < 0) return "/";
  }
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

/** The path behind a mount path, or `undefined` when it is not below it: `/api/ai/v10` is not below `/api/ai/v1`. */
export function pathWithin(mount: string, path: string): string | undefined {
  if (mount === "") return path;
  if (!path.startsWith(mount)) return undefined;
  if (path.length === mount.length) return "/";
  return path.charCodeAt(mount.length) === 0x2f ? path.slice(mount.length) : undefined;
}
