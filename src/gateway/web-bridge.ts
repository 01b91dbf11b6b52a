import { type GatewayResponse, type HostContext, handle, type MountedHandler, StallTimer } from "./gateway.js";
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
interface WebResponseOptions {
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

/**
 * What a web-standard stream is read from. It pulls each piece only when the client reads, so that a slow client slows the
 * upstream down. A client that reads nothing for `maxStallMs` is disconnected.
 */
class WebBodySource {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #request: WebRequest;
  readonly #maxStallMs: number;
  readonly #ended: AbortSignal | undefined;
  #isPulling = false;
  #hasPulled = false;
  #isOver = false;
  #timer: StallTimer | undefined;
  #abort = (): void => {};

  /** @param ended - fails the stream when it is aborted, with its reason. */
  constructor(
    body: AsyncIterable<Uint8Array>,
    request: WebRequest,
    maxStallMs: number,
    ended: AbortSignal | undefined,
  ) {
    this.#pieces = body[Symbol.asyncIterator]();
    this.#request = request;
    this.#maxStallMs = maxStallMs;
    this.#ended = ended;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const ended = this.#ended;
    this.#abort = () => this.#fail(controller, ended?.reason);
    if (ended?.aborted) {
      this.#abort();
      return;
    }
    ended?.addEventListener("abort", this.#abort);
    const isTaking = (): boolean => {
      const isReading = this.#isPulling || this.#hasPulled;
      this.#hasPulled = false;
      return isReading;
    };
    this.#timer = new StallTimer(this.#maxStallMs, isTaking, () => {
      this.#request.giveUp();
      this.#fail(controller, new Error(`The client took nothing of its answer for ${this.#maxStallMs} ms.`));
    });
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#isPulling = true;
    this.#hasPulled = true;
    const { done, value } = await this.#pieces.next().catch((error: unknown) => {
      this.#stop();
      throw error;
    });
    this.#isPulling = false;
    if (this.#isOver) return;
    if (!done) {
      controller.enqueue(value);
      return;
    }
    this.#stop();
    this.#request.settled();
    controller.close();
  }

  async cancel(): Promise<void> {
    this.#stop();
    this.#request.abort();
    this.#request.settled();
    await this.#pieces.return?.();
  }

  #stop(): void {
    this.#isOver = true;
    this.#timer?.stop();
    this.#ended?.removeEventListener("abort", this.#abort);
  }

  #fail(controller: ReadableStreamDefaultController<Uint8Array>, reason: unknown): void {
    this.#stop();
    controller.error(reason);
    this.#pieces.return?.().catch(() => {});
  }
}
