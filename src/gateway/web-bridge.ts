import type { Gateway, GatewayResponse } from "./gateway.js";
import { WebRequest } from "./web-request.js";

/** Answers a web-standard request. Runs wherever `Request` and `Response` do. */
export async function handleWebRequest(gateway: Gateway, request: Request): Promise<Response> {
  const webRequest = new WebRequest(request, pathBehind(gateway.basePath, new URL(request.url).pathname));
  return toWebResponse(await gateway.handle(webRequest), webRequest);
}

/** The path behind the base path; outside of it, a path that no gateway serves. */
function pathBehind(basePath: string, path: string): string {
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : `/${path}`;
}

function toWebResponse({ status, headers, body }: GatewayResponse, request: WebRequest): Response {
  // The connection is the host's: it may be HTTP/2, and only the host can take in the rest of a body before it closes.
  delete headers["connection"];
  if (isStream(body)) return new Response(toReadableStream(body, request), { status, headers });
  request.settled();
  if (request.method === "HEAD" || body === null) return new Response(null, { status, headers });
  // TypeScript's DOM types want to know that no SharedArrayBuffer is behind the bytes.
  return new Response(body as ConstructorParameters<typeof Response>[0], { status, headers });
}

function isStream(body: GatewayResponse["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/** Pulls each piece only when it is asked for, so that a client that stops reading stops the upstream. */
function toReadableStream(body: AsyncIterable<Uint8Array>, request: WebRequest): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        request.settled();
        controller.close();
      },
      async cancel() {
        request.leave();
        request.settled();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
