import { type GatewayResponse, handle, type MountableGateway, StallTimer } from "./gateway.js";
import { WebRequest } from "./web-request.js";

/** Serves a web-standard request. It needs only `Request` and `Response` of the runtime. */
export async function bridgeWebRequest(gateway: MountableGateway, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const target = { path: pathBehind(gateway.basePath, pathname), query: search.slice(1) };
  const webRequest = new WebRequest(request, target, request);
  return toWebResponse(await gateway[handle](webRequest), webRequest, gateway.maxStallMs);
}

/** The path after the base path. For other paths, a path that the gateway does not have. */
function pathBehind(basePath: string, path: string): string {
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : `/${path}`;
}

/** A web-standard response; a stream is read from the gateway as its reader takes it. */
export function toWebResponse(
  { status, headers, body }: GatewayResponse,
  request: WebRequest,
  maxStallMs: number,
): Response {
  // The host owns the connection. It may be HTTP/2, and only the host can read the rest of a body before it closes.
  delete headers["connection"];
  if (isStream(body)) return new Response(toReadableStream(body, request, maxStallMs), { status, headers });
  request.settled();
  if (request.method === "HEAD" || body === null) return new Response(null, { status, headers });
  // TypeScript's DOM types require that no SharedArrayBuffer contains the bytes.
  return new Response(body as ConstructorParameters<typeof Response>[0], { status, headers });
}

function isStream(body: GatewayResponse["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/**
 * Pulls each piece only when the client reads, so that a slow client slows the upstream down. A client that reads
 * nothing for `maxStallMs` is disconnected.
 */
function toReadableStream(
  body: AsyncIterable<Uint8Array>,
  request: WebRequest,
  maxStallMs: number,
): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  let isPulling = false;
  let hasPulled = false;
  let timer: StallTimer | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const isTaking = (): boolean => {
          const isReading = isPulling || hasPulled;
          hasPulled = false;
          return isReading;
        };
        timer = new StallTimer(maxStallMs, isTaking, () => {
          request.giveUp();
          controller.error(new Error(`The client took nothing of its answer for ${maxStallMs} ms.`));
          iterator.return?.().catch(() => {});
        });
      },
      async pull(controller) {
        isPulling = true;
        hasPulled = true;
        const { done, value } = await iterator.next().catch((error: unknown) => {
          timer?.stop();
          throw error;
        });
        isPulling = false;
        if (!done) {
          controller.enqueue(value);
          return;
        }
        timer?.stop();
        request.settled();
        controller.close();
      },
      async cancel() {
        timer?.stop();
        request.abort();
        request.settled();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
