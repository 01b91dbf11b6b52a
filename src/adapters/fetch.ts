import { type HostContext, type Mountable, requireMountable } from "../gateway/gateway.js";

/**
 * Serves a web-standard request. Of what the host gives beside it, the first that has a `waitUntil` is asked to wait for what a
 * request leaves behind: `(request, env, ctx)` of Workers, `(request, context)` of Netlify, `request.waitUntil` of srvx and
 * Nitro. Anything else is ignored.
 */
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
  return (request, ...rest) => gateway.handler(request, contextOf([request, ...rest]));
}

function contextOf(given: readonly unknown[]): HostContext | undefined {
  return given.find(canWait);
}

function canWait(given: unknown): given is HostContext {
  return typeof (given as HostContext | null | undefined)?.waitUntil === "function";
}

/** Options of {@link toRouteHandlers}. */
export interface RouteHandlersOptions {
  /** `after` of `next/server`: see {@link GatewayOptions.waitUntil}, which goes before it. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/**
 * Mounts the gateway, or a page of `infergate/pages`, in a Next.js route file such as `app/api/ai/[...path]/route.ts`; set
 * {@link GatewayOptions.basePath} to the path of its folder, here `/api/ai`.
 *
 * @example
 * ```ts
 * export const { GET, POST, DELETE, HEAD, OPTIONS } = toRouteHandlers(gateway, { waitUntil: after });
 * ```
 */
export function toRouteHandlers(gateway: Mountable, { waitUntil }: RouteHandlersOptions = {}): RouteHandlers {
  requireMountable("toRouteHandlers", gateway);
  const handler: FetchHandler = (request) => gateway.handler(request, { waitUntil });
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
