import { BodyError, type BodyFailure, type GatewayRequest } from "./gateway.js";

/** A web-standard request as the gateway reads it. */
export class WebRequest implements GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly #request: Request;
  readonly #leave = (): void => this.leave();
  #controller: AbortController | undefined;

  constructor(request: Request, path: string) {
    this.#request = request;
    this.method = request.method;
    this.path = path;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  /** Not the request's own: a host may say only by cancelling the answer's body that the client has gone. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      const { signal } = this.#request;
      if (signal.aborted) this.#controller.abort();
      else signal.addEventListener("abort", this.#leave, { once: true });
    }
    return this.#controller.signal;
  }

  /** The client has gone. */
  leave(): void {
    this.#controller?.abort();
  }

  /** The answer is complete: it does not matter any more whether the client leaves. */
  settled(): void {
    if (this.#controller !== undefined) this.#request.signal.removeEventListener("abort", this.#leave);
  }

  async body({ maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number }): Promise<Uint8Array> {
    const { body } = this.#request;
    if (Number(this.header("content-length")) > maxBytes) throw new BodyError("too_large");
    if (body === null || body.locked || this.#request.bodyUsed) return new Uint8Array();
    return await readBody(body, this.signal, maxBytes, timeoutMs);
  }
}

/**
 * What is left of a body that failed is neither read nor cancelled: some hosts would reset the connection, and the
 * client would never read its answer. Hosts dispose of what is unread.
 */
function readBody(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  maxBytes: number,
  timeoutMs: number,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const reader = body.getReader();
    const pieces: Uint8Array[] = [];
    let length = 0;
    let ended = false;
    const stop = () => {
      ended = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    const fail = (failure: BodyFailure, cause?: unknown) => {
      stop();
      reject(new BodyError(failure, { cause }));
    };
    const abort = (cause?: unknown) => fail("aborted", cause);
    const timer = setTimeout(() => fail("too_slow"), timeoutMs);
    signal.addEventListener("abort", abort);
    const read = (): void => {
      reader.read().then(({ done, value }) => {
        if (ended) return;
        if (done) {
          stop();
          resolve(concat(pieces, length));
          return;
        }
        length += value.length;
        pieces.push(value);
        if (length > maxBytes) fail("too_large");
        else read();
      }, abort);
    };
    if (signal.aborted) abort();
    else read();
  });
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
