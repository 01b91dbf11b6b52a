import { type GatewayResponse, type HostContext, handle, type MountedHandler } from "./gateway.js";
import { WebBodySource } from "./web-body-source.js";
import { WebRequest } from "./web-request.js";

/**
 * Serves a web-standard request. It needs only `Request` and `Response` of the runtime.
 * @param context - the host's own, which may have a `waitUntil`.
 */
export async function bridgeWebRequest(
  mounted: MountedHandler,
  request: Request,
  context: HostContext = {},
): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const target = { path: pathBehind(mounted.basePath, pathname), query: search.slice(1) };
  const webRequest = new WebRequest(request, target, request);
  // As a method: a Worker's refuses to be called without its context.
  if (context.waitUntil !== undefined) webRequest.waitUntil = (work) => context.waitUntil?.(work);
  return toWebResponse(await mounted[handle](webRequest), webRequest, mounted);
}

/** The path after the base path. For other paths, a path that is nobody's. */
function pathBehind(basePath: string, path: string): string {
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : `/${path}`;
}

/** How a response is made for the one who called. */
export interface WebResponseOptions {
  readonly maxStallMs: number;
  /** Fails a stream when it is aborted, with its reason. Without it, the stream of a client that has left ends. */
  readonly ended?: AbortSignal | null | undefined;
  /** Makes the response of a body that is there at once. Default: the runtime's own. */
  readonly makeWhole?: (body: Uint8Array | string, init: ResponseInit) => Response;
}

/** A web-standard response; a stream is read from the gateway as its reader takes it. */
export function toWebResponse(
  { status, headers, body }: GatewayResponse,
  request: WebRequest,
  { maxStallMs, ended, makeWhole = runtimeResponse }: WebResponseOptions,
): Response {
  // The host owns the connection. It may be HTTP/2, and only the host can read the rest of a body before it closes.
  if (headers["connection"] !== undefined) delete headers["connection"];
  if (isStream(body)) {
    const source = new WebBodySource(body, request, maxStallMs, ended ?? undefined);
    return new Response(new ReadableStream(source, { highWaterMark: 0 }), { status, headers });
  }
  request.settled();
  if (request.method === "HEAD" || body === null) return new Response(null, { status, headers });
  return makeWhole(body, { status, headers });
}

function runtimeResponse(body: Uint8Array | string, init: ResponseInit): Response {
  // TypeScript's DOM types require that no SharedArrayBuffer contains the bytes.
  return new Response(body as ConstructorParameters<typeof Response>[0], init);
}

function isStream(body: GatewayResponse["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
