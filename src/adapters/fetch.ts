import type { Mountable } from "../gateway/gateway.js";
import { requireMountable } from "./require-mountable.js";

/** Serves a web-standard request; further arguments of the host are ignored. */
export type FetchHandler = (request: Request, ...rest: unknown[]) => Promise<Response>;

/** What a Next.js route file exports: for a gateway all but `PUT` and `PATCH`, which only pages use. */
export interface RouteHandlers {
  GET: FetchHandler;
  POST: FetchHandler;
  PUT: FetchHandler;
  PATCH: FetchHandler;
  DELETE: FetchHandler;
  HEAD: FetchHandler;
  OPTIONS: FetchHandler;
}

/**
 * Mounts the gateway, or a page of `infergate/pages`, where requests and responses are web-standard: Bun, Deno, Workers, Hono.
 *
 * @example
 * ```ts
 * export default { fetch: toFetchHandler(gateway) };
 * ```
 */
export function toFetchHandler(gateway: Mountable): FetchHandler {
  requireMountable("toFetchHandler", gateway);
  return (request) => gateway.handler(request);
}

/**
 * Mounts the gateway, or a page of `infergate/pages`, in a Next.js route file such as `app/api/ai/[...path]/route.ts`; set
 * {@link GatewayOptions.basePath} to the path of its folder, here `/api/ai`.
 *
 * @example
 * ```ts
 * export const { GET, POST, DELETE, HEAD, OPTIONS } = toRouteHandlers(gateway);
 * ```
 */
export function toRouteHandlers(gateway: Mountable): RouteHandlers {
  requireMountable("toRouteHandlers", gateway);
  const handler = toFetchHandler(gateway);
  return {
    GET: handler,
    POST: handler,
    PUT: handler,
    PATCH: handler,
    DELETE: handler,
    HEAD: handler,
    OPTIONS: handler,
  };
}
