/**
 * Whether this code runs in an isolate: a runtime that ties each promise, timer and socket to the request that made it, and
 * ends them with it. There no request may wait for what another one has begun, or it waits for ever. Cloudflare's Workers
 * say so by this name.
 */
export const isIsolate: boolean =
  (globalThis as { navigator?: { userAgent?: unknown } }).navigator?.userAgent === "Cloudflare-Workers";
