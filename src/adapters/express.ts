import type { IncomingMessage, ServerResponse } from "node:http";
import { type Mountable, requireMountable, tells } from "../gateway/gateway.js";
import { NodeBridge, pathOf, pathWithin } from "./node.js";

/** What the handler reads of an Express request, of version 4 or 5. */
export interface ExpressRequest extends IncomingMessage {
  /** The path at which the handler is mounted; Express has taken it off `url`. */
  baseUrl: string;
}

/** Middleware for Express 4 and 5. */
export type ExpressHandler = (req: ExpressRequest, res: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * Mounts the gateway, or a page of `infergate/pages`, in an Express 4 or 5 app, at the root or under a prefix. A path that
 * is not the gateway's goes on to the app's own routes, except of a client whose base URL has one `/v1` too few or too many: it gets a 404 that says so.
 * Works before and after body parsers; before them, large bodies get OpenAI's error shape too.
 *
 * @example
 * ```ts
 * app.use("/ai", toExpressHandler(gateway)); // base URL: https://example.com/ai/v1
 * ```
 */
export function toExpressHandler(gateway: Mountable): ExpressHandler {
  const mountable = requireMountable("toExpressHandler", gateway);
  const bridge = new NodeBridge(mountable);
  return (req, res, next) => {
    // A base path that Express has taken off need not be there a second time. It matches without regard to case.
    const isStripped = req.baseUrl.toLowerCase().endsWith(gateway.basePath.toLowerCase());
    const path = pathWithin(isStripped ? "" : gateway.basePath, pathOf(req.url));
    const isBelowPrefix = req.baseUrl !== "" || gateway.basePath !== "";
    if (path !== undefined && (gateway.serves(path) || mountable[tells](path, req, isBelowPrefix))) {
      bridge.serve({ req, res }, path);
    } else next();
  };
}
