import { crossSiteRequest } from "../errors/gateway-error.js";

/** What of a request says which page has sent it. */
interface RequestOrigin {
  readonly method: string;
  header(name: string): string | undefined;
}

/**
 * Browsers send cookies with requests that other sites make. So a request that a cookie identifies must come from the
 * host's own origin. A sibling subdomain or another port is another origin: `SameSite` cookies are sent from there.
 *
 * Browsers say by `Sec-Fetch-Site` where a request comes from (W3C Fetch Metadata). Over plain HTTP they say it only to
 * `localhost`; then `Origin` counts. A reading request may lack both, since browsers send no `Origin` with it.
 *
 * @param origins - the host's own origins. Absent: the origin's host must be the one that the request was sent to.
 * @throws GatewayError 403 for a request of another origin, and for one that changes something and does not say its own.
 */
export function requireSameOrigin(request: RequestOrigin, origins: readonly string[] | undefined): void {
  const isReading = request.method === "GET" || request.method === "HEAD";
  const site = request.header("sec-fetch-site");
  const isSame =
    site === undefined
      ? isOwnOrigin(request, origins, isReading)
      : site === "same-origin" || (isReading && site === openedByPerson);
  if (!isSame) throw crossSiteRequest();
}

/** From the address bar or a bookmark. */
const openedByPerson = "none";

function isOwnOrigin(request: RequestOrigin, origins: readonly string[] | undefined, isReading: boolean): boolean {
  const origin = request.header("origin");
  if (origin === undefined) return isReading;
  return origins === undefined ? isHostOf(origin, request.header("host")) : origins.includes(origin);
}

/** A name, an IPv4 or an IPv6 address, with or without a port. */
const hostAndPort = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Whether the origin's host is this one. The scheme is unknown behind a proxy: only the port's default comes of it. */
function isHostOf(origin: string, host: string | undefined): boolean {
  if (host === undefined || !hostAndPort.test(host) || !URL.canParse(origin)) return false;
  const { protocol, host: originHost, origin: serialized } = new URL(origin);
  if (serialized !== origin) return false;
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === originHost;
}

/** Which web pages may call the gateway from a browser: all, or those of these origins. */
export type CorsOptions = true | { origins: readonly string[] };

/** Every header that the gateway gives clients to read: a new one is added here. */
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
