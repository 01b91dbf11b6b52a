import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { BodyError, type BodyFailure, type GatewayRequest } from "../gateway/gateway.js";

/** A Node request as the gateway reads it, without a web class between. */
export class NodeRequest implements GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  /** What the host's own body parser made of the body. */
  readonly #parsedBody: unknown;
  #controller: AbortController | undefined;

  constructor(req: IncomingMessage, res: ServerResponse, path: string, parsedBody: unknown) {
    this.#req = req;
    this.#res = res;
    this.#parsedBody = parsedBody;
    this.method = req.method ?? "GET";
    this.path = path;
  }

  header(name: string): string | undefined {
    if (name === "authorization") return this.#authorization();
    // A parsed body is neither compressed nor of another type any more.
    if (name === "content-encoding" && this.#isConsumed()) return undefined;
    const value = this.#req.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  /** Made only when it is asked for: a controller costs microseconds. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (isGone(this.#res)) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** The client has gone before the answer was complete. */
  abort(): void {
    this.#controller?.abort();
  }

  async body({ maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number }): Promise<Uint8Array> {
    if (this.#isConsumed()) {
      const bytes = toBytes(this.#parsedBody);
      if (bytes.length > maxBytes) throw new BodyError("too_large");
      return bytes;
    }
    if (Number(this.#req.headers["content-length"]) > maxBytes) throw new BodyError("too_large");
    return await readStream(this.#req, maxBytes, timeoutMs);
  }

  /** `req.body` alone says nothing: Express 4's parsers set it to `{}` for bodies that they leave alone. */
  #isConsumed(): boolean {
    const { readableDidRead, readableEnded } = this.#req;
    return readableEnded || (readableDidRead && this.#parsedBody !== undefined);
  }

  /** Node keeps only the first of two; the gateway must see that there are two. */
  #authorization(): string | undefined {
    const { rawHeaders } = this.#req;
    let found: string | undefined;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (rawHeaders[index]?.length !== 13 || rawHeaders[index]?.toLowerCase() !== "authorization") continue;
      const value = rawHeaders[index + 1] ?? "";
      found = found === undefined ? value : `${found}, ${value}`;
    }
    return found ?? this.#req.headers.authorization;
  }
}

/** The connection was closed before the answer was complete. */
export function isGone(res: ServerResponse): boolean {
  return res.destroyed && !res.writableFinished;
}

function toBytes(parsed: unknown): Uint8Array {
  if (parsed === undefined || parsed === null) return new Uint8Array();
  if (parsed instanceof Uint8Array) return parsed;
  return Buffer.from(typeof parsed === "string" ? parsed : JSON.stringify(parsed));
}

function readStream(req: IncomingMessage, maxBytes: number, timeoutMs: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (req.destroyed) {
      reject(new BodyError("aborted"));
      return;
    }
    const pieces: Uint8Array[] = [];
    let length = 0;
    const stop = () => {
      clearTimeout(timer);
      req.off("data", take).off("end", end).off("error", abort).off("close", abort);
    };
    const fail = (failure: BodyFailure, cause?: unknown) => {
      stop();
      reject(new BodyError(failure, { cause }));
    };
    const take = (piece: Uint8Array | string) => {
      const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
      length += bytes.length;
      if (length > maxBytes) {
        req.pause();
        fail("too_large");
      } else {
        pieces.push(bytes);
      }
    };
    const end = () => {
      stop();
      resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, length));
    };
    const abort = (cause?: unknown) => fail("aborted", cause);
    const timer = setTimeout(() => {
      req.pause();
      fail("too_slow");
    }, timeoutMs);
    req.on("data", take).on("end", end).on("error", abort).on("close", abort);
  });
}
