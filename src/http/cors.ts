/** Which web pages may call the gateway from a browser: all, or those of these origins. */
export type CorsOptions = true | { origins: readonly string[] };

const exposed = [
  "x-request-id",
  "request-id",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-ratelimit-reset",
  ...["limit", "remaining", "reset"].flatMap((kind) =>
    ["session", "week", "month", "requests", "tokens"].map((window) => `x-ratelimit-${kind}-${window}`),
  ),
  "x-ratelimit-remaining-prepaid",
  "x-credits-charged",
  "x-infergate-cache",
  "age",
].join(", ");

/** The CORS headers of any response (WHATWG Fetch, section 3.3), errors and streams included. */
export function corsHeaders(options: CorsOptions, origin: string | undefined): Record<string, string> {
  if (options === true) return { "access-control-allow-origin": "*", "access-control-expose-headers": exposed };
  if (origin === undefined || !options.origins.includes(origin)) return { vary: "Origin" };
  return { "access-control-allow-origin": origin, "access-control-expose-headers": exposed, vary: "Origin" };
}

/**
 * What a preflight gets besides. `*` would not cover `Authorization`, so the response repeats the headers of the
 * request.
 */
export function preflightHeaders(requestHeaders: string | undefined): Record<string, string> {
  return {
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": requestHeaders ?? "authorization, content-type",
    "access-control-max-age": "86400",
  };
}
