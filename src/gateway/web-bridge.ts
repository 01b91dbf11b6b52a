import type { BodyFailure, Gateway, GatewayRequest, GatewayResponse } from "./gateway.js";
import { BodyError } from "./gateway.js";

/** Answers a web-standard request. Runs wherever `Request` and `Response` do. */
export async function handleWebRequest(gateway: Gateway, request: Request): Promise<Response> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  if (request.signal.aborted) leave();
  else request.signal.addEventListener("abort", leave, { once: true });

  const response = await gateway.handle(toGatewayRequest(gateway, request, gone.signal));
  if (!isStream(response.body)) request.signal.removeEventListener("abort", leave);
  return toWebResponse(response, request.method, leave);
}

/** The path behind `basePath`, undecoded and without query; outside of it a path that nothing serves. */
export function pathWithin(basePath: string, url: string): string {
  // `new URL` would read `//v1/models` as the host v1.
  const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url);
  const path = url.slice(authority?.[0].length ?? 0).replace(/[?#].*$/s, "") || "/";
  if (basePath === "") return path;
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : `/${path}`;
}

function toGatewayRequest(gateway: Gateway, request: Request, signal: AbortSignal): GatewayRequest {
  return {
    method: request.method,
    path: pathWithin(gateway.basePath, request.url),
    header: (name) => request.headers.get(name) ?? undefined,
    body: ({ maxBytes, timeoutMs }) => readBody(request, signal, maxBytes, timeoutMs),
    signal,
  };
}

async function readBody(
  request: Request,
  signal: AbortSignal,
  maxBytes: number,
  timeoutMs: number,
): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length")) > maxBytes) throw new BodyError("too_large");
  if (request.body === null || request.bodyUsed) return new Uint8Array();
  const reader = request.body.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  let failure: BodyFailure | undefined;
  const fail = (reason: BodyFailure) => {
    failure ??= reason;
    reader.cancel().catch(() => {});
  };
  const leave = () => fail("aborted");
  const timer = setTimeout(() => fail("too_slow"), timeoutMs);
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (failure !== undefined) throw new BodyError(failure);
      if (done) break;
      length += value.length;
      if (length > maxBytes) {
        fail("too_large");
        throw new BodyError("too_large");
      }
      pieces.push(value);
    }
  } catch (cause) {
    if (cause instanceof BodyError) throw cause;
    throw new BodyError(failure ?? "aborted", { cause });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
  }
  return concat(pieces, length);
}

function concat(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

function toWebResponse({ status, headers, body }: GatewayResponse, method: string, leave: () => void): Response {
  if (method === "HEAD" || body === null) return new Response(null, { status, headers });
  if (isStream(body)) return new Response(toReadableStream(body, leave), { status, headers });
  return new Response(body as ConstructorParameters<typeof Response>[0], { status, headers });
}

function isStream(body: GatewayResponse["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/** Pulls each piece only when it is asked for, so that a client that stops reading stops the upstream. */
function toReadableStream(body: AsyncIterable<Uint8Array>, leave: () => void): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        leave();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
