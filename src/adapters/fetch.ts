import type { Gateway } from "../gateway/gateway.js";
import { requireGateway } from "./require-gateway.js";

/** Serves a web-standard request; further arguments of the host are ignored. */
export type FetchHandler = (request: Request, ...rest: unknown[]) => Promise<Response>;

/** What a Next.js route file exports. */
export interface RouteHandlers {
  GET: FetchHandler;
  POST: FetchHandler;
  DELETE: FetchHandler;
  HEAD: FetchHandler;
  OPTIONS: FetchHandler;
}

/**
 * Mounts the gateway where requests and responses are web-standard: Bun, Deno, Workers, Hono.
 *
 * @example
 * ```ts
 * export default { fetch: toFetchHandler(gateway) };
 * ```
 */
export function toFetchHandler(gateway: Gateway): FetchHandler {
  requireGateway("toFetchHandler", gateway);
  return (request) => gateway.handler(request);
}

/**
 * Mounts the gateway in a Next.js route file such as `app/api/ai/[...path]/route.ts`; set
 * {@link GatewayOptions.basePath} to the path of its folder, here `/api/ai`.
 *
 * @example
 * ```ts
 * export const { GET, POST, DELETE, HEAD, OPTIONS } = toRouteHandlers(gateway);
 * ```
 */
export function toRouteHandlers(gateway: Gateway): RouteHandlers {
  requireGateway("toRouteHandlers", gateway);
  const handler = toFetchHandler(gateway);
  return { GET: handler, POST: handler, DELETE: handler, HEAD: handler, OPTIONS: handler };
}
