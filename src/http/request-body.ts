import { Buffer } from "node:buffer";
import { GatewayError, internalError, invalidJson, serviceUnavailable, withHeaders } from "../errors/gateway-error.js";
import { letProcessEnd } from "../runtime/let-process-end.js";
import { BodyError, type BodyFailure, type BodyLimits, type GatewayRequest, isBodyError } from "./message.js";

export interface BodyOptions {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly minBodyBytesPerSecond: number;
  readonly pendingBodies: PendingBodies;
}

/**
 * Reads a request's bytes. Unless they came with the headers, they count among the account's pending ones until these are
 * dropped.
 * @throws GatewayError 415; rejects with a `BodyError`, which {@link bodyFailure} makes a response of.
 */
export function readBody(request: GatewayRequest, account: string, options: BodyOptions): Promise<Uint8Array> {
  requirePlain(request);
  return request.body(new RequestLimits(request, account, options));
}

/** Reads a form with files, which has limits of its own. @throws as {@link readBody}; rejects with a GatewayError. */
export async function readUpload(
  request: GatewayRequest,
  account: string,
  options: BodyOptions,
): Promise<readonly Uint8Array[]> {
  requirePlain(request);
  try {
    return await request.bodyInPieces(new RequestLimits(request, account, options));
  } catch (error) {
    throw isBodyError(error) ? bodyFailure(error, options) : error;
  }
}

function requirePlain(request: GatewayRequest): void {
  const encoding = request.header("content-encoding")?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== "" && encoding !== "identity") {
    throw new GatewayError("Compressed request bodies are not supported: send no Content-Encoding.", {
      status: 415,
      code: "unsupported_content_encoding",
      headers: { "accept-encoding": "identity" },
    });
  }
}

/** The limits of one request's body. */
class RequestLimits implements BodyLimits {
  readonly #request: GatewayRequest;
  readonly #account: string;
  readonly #options: BodyOptions;

  constructor(request: GatewayRequest, account: string, options: BodyOptions) {
    this.#request = request;
    this.#account = account;
    this.#options = options;
  }

  get maxBytes(): number {
    return this.#options.maxBodyBytes;
  }

  get timeoutMs(): number {
    return this.#options.bodyTimeoutMs;
  }

  get minBytesPerSecond(): number {
    return this.#options.minBodyBytesPerSecond;
  }

  arrived(bytes: number): BodyFailure | undefined {
    return this.#options.pendingBodies.add(this.#request, this.#account, bytes);
  }
}

/**
 * The rest of the body is not read, so the connection cannot be used again.
 * @returns GatewayError 400, 408, 413, 429, 500, 503
 */
export function bodyFailure(error: BodyError, { maxBodyBytes, bodyTimeoutMs }: BodyOptions): GatewayError {
  const headers = { connection: "close" };
  switch (error.failure) {
    case "too_large":
      return new GatewayError(`The request body is larger than ${maxBodyBytes} bytes.`, {
        status: 413,
        code: "request_too_large",
        headers,
      });
    case "too_slow":
      return new GatewayError(
        `The request body came too slowly: it must be complete within ${bodyTimeoutMs / 1000} seconds.`,
        { status: 408, code: "request_timeout", headers },
      );
    case "over_share":
    case "no_room":
      return withHeaders(roomFailure(error.failure), headers);
    case "no_bytes":
      return internalError(error.cause);
    default:
      return invalidJson("The request body broke off.");
  }
}

/**
 * The error for bytes that find no room among those that wait.
 * @returns GatewayError 429, 503
 */
export function roomFailure(failure: BodyFailure): GatewayError {
  if (failure !== "over_share") {
    return serviceUnavailable("Too many large requests are under way at once. Try again shortly.");
  }
  return new GatewayError(
    "Too many large requests of your account are under way at once. Send fewer at a time, and try again shortly.",
    { status: 429, code: "rate_limit_exceeded", type: "requests", headers: { "retry-after": "2" } },
  );
}

interface Pending {
  readonly account: string;
  bytes: number;
}

/**
 * Counts the bytes of request bodies whose calls hold no limited credits: the gateway has neither admitted nor refused
 * them yet, or they have no limit. Without this count a single key could fill the memory. It counts the bytes that
 * came, not those that are announced. Bytes that a request causes count like those that it brought: what it refers to, and
 * what it has read to it.
 */
export class PendingBodies {
  readonly #maxBytes: number;
  /** The most bytes of one account. */
  readonly maxAccountBytes: number;
  readonly #pending = new Map<GatewayRequest, Pending>();
  readonly #byAccount = new Map<string, number>();
  #bytes = 0;

  /** @param maxBytes - of all together, of which an account can have a quarter, but always one body of `maxBodyBytes`. */
  constructor(maxBytes: number, maxBodyBytes: number) {
    this.#maxBytes = maxBytes;
    this.maxAccountBytes = Math.max(Math.floor(maxBytes / 4), maxBodyBytes);
  }

  /** How many bytes wait at the moment. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many requests have a body that waits. */
  get size(): number {
    return this.#pending.size;
  }

  /**
   * So many more bytes of the request's body have come.
   * @returns why there is no room for them, if there is none: then they do not count.
   */
  add(request: GatewayRequest, account: string, bytes: number): BodyFailure | undefined {
    const ofAccount = (this.#byAccount.get(account) ?? 0) + bytes;
    if (ofAccount > this.maxAccountBytes) return "over_share";
    if (this.#bytes + bytes > this.#maxBytes) return "no_room";
    this.#bytes += bytes;
    this.#byAccount.set(account, ofAccount);
    const pending = this.#pending.get(request);
    if (pending === undefined) this.#pending.set(request, { account, bytes });
    else pending.bytes += bytes;
    return undefined;
  }

  /** The request holds credits, or has ended: its body does not count any more. */
  drop(request: GatewayRequest): void {
    if (this.#pending.size === 0) return;
    const pending = this.#pending.get(request);
    if (pending === undefined) return;
    this.#pending.delete(request);
    const { account, bytes } = pending;
    this.#bytes -= bytes;
    const ofAccount = (this.#byAccount.get(account) ?? 0) - bytes;
    if (ofAccount > 0) this.#byAccount.set(account, ofAccount);
    else this.#byAccount.delete(account);
  }
}

const tickMs = 1000;
/** The speed is judged by what comes in so many ticks, of about a second: a radio link may be silent for some seconds. */
export const ticksPerLook = 10;

/** So many pieces are kept as they come, and longer ones always. */
const fewPieces = 16;
const longPiece = 16 * 1024;
const leastBlock = 4 * 1024;
/** What short buffers are often parts of, in Node. */
const sharedMemory = 8 * 1024;
const largestBlock = 64 * 1024;

/**
 * A request's body on its way: what has come of it, and how long it may take. It counts ticks instead of comparing times:
 * what a blocked event loop has kept this process from reading is not late.
 */
export class ArrivingBody {
  readonly #limits: BodyLimits;
  readonly #failed: (error: BodyError) => void;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #mostTicks: number;
  #ticks = 0;
  #lengthAtLook = 0;
  #length = 0;
  /** `undefined`: it is over. */
  #pieces: Uint8Array[] | undefined = [];
  /** Where short pieces are gathered: kept by themselves, some bytes could take a hundred times their memory. */
  #block: Uint8Array | undefined;
  #filled = 0;

  /** @param failed - called once when the body fails; bytes that come afterwards are not kept. */
  constructor(limits: BodyLimits, failed: (error: BodyError) => void) {
    this.#limits = limits;
    this.#failed = failed;
    this.#mostTicks = Math.ceil(limits.timeoutMs / tickMs);
    this.#timer = setInterval(() => this.#tick(), limits.timeoutMs / this.#mostTicks);
    // Its connection keeps the process alive as long as need be.
    letProcessEnd(this.#timer);
  }

  /** Whatever a host's stream brings, it does not throw: nobody would catch it. */
  take(piece: Uint8Array): void {
    if (this.#pieces === undefined) return;
    if (!isBytes(piece)) {
      this.fail("no_bytes", new TypeError("The request's body must be a stream of bytes, as Uint8Array."));
      return;
    }
    this.#length += piece.length;
    const failure = this.#length > this.#limits.maxBytes ? "too_large" : this.#limits.arrived(piece.length);
    if (failure === undefined) this.#keep(piece, this.#pieces);
    else this.fail(failure);
  }

  /** All of it has come. @returns `undefined` when it was over before. */
  end(): Uint8Array | undefined {
    const pieces = this.endInPieces();
    if (pieces === undefined) return undefined;
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, this.#length);
  }

  /** As {@link end}, without a copy of what is large. */
  endInPieces(): readonly Uint8Array[] | undefined {
    const pieces = this.#pieces;
    if (pieces === undefined) return undefined;
    this.#flush(pieces);
    this.#stop();
    return pieces;
  }

  fail(failure: BodyFailure, cause?: unknown): void {
    if (this.#pieces === undefined) return;
    this.#stop();
    this.#failed(new BodyError(failure, { cause }));
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#pieces = undefined;
    this.#block = undefined;
  }

  #keep(piece: Uint8Array, pieces: Uint8Array[]): void {
    const isKept = piece.length >= longPiece || (pieces.length < fewPieces && this.#filled === 0);
    if (isKept && isAlone(piece)) {
      this.#flush(pieces);
      pieces.push(piece);
      return;
    }
    for (let start = 0; start < piece.length; ) {
      this.#block ??= new Uint8Array(Math.min(Math.max(this.#length, leastBlock), largestBlock));
      const block = this.#block;
      const part = piece.subarray(start, start + block.length - this.#filled);
      block.set(part, this.#filled);
      start += part.length;
      this.#filled += part.length;
      if (this.#filled < block.length) continue;
      pieces.push(block);
      this.#block = undefined;
      this.#filled = 0;
    }
  }

  #flush(pieces: Uint8Array[]): void {
    if (this.#block === undefined || this.#filled === 0) return;
    pieces.push(this.#block.slice(0, this.#filled));
    this.#filled = 0;
  }

  #tick(): void {
    this.#ticks++;
    if (this.#ticks >= this.#mostTicks) this.fail("too_slow");
    else if (this.#ticks % ticksPerLook === 0) this.#look();
  }

  #look(): void {
    const came = this.#length - this.#lengthAtLook;
    this.#lengthAtLook = this.#length;
    if (came < this.#limits.minBytesPerSecond * ticksPerLook) this.fail("too_slow");
  }
}

/** Whether it keeps hardly more memory than it shows: a frame of HTTP/2 is a part of all that was read with it. */
function isAlone(piece: Uint8Array): boolean {
  return piece.buffer.byteLength <= Math.max(2 * piece.length, sharedMemory);
}

/** Also for what another realm has made, such as a sandbox in which the host runs its handlers. */
function isBytes(piece: unknown): boolean {
  return piece instanceof Uint8Array || Object.prototype.toString.call(piece) === "[object Uint8Array]";
}

/** What whoever reads a body gets. */
export interface BodyShape<Body> {
  /** Of a body that was there at once. */
  of(bytes: Uint8Array): Body;
  /** Of one that has come to its end. @returns `undefined` when it was over before. */
  end(arriving: ArrivingBody): Body | undefined;
}

export const inOnePiece: BodyShape<Uint8Array> = {
  of: (bytes) => bytes,
  end: (arriving) => arriving.end(),
};

/** As it came: a large body is not there twice, not even for a moment. */
export const inPieces: BodyShape<readonly Uint8Array[]> = {
  of: (bytes) => [bytes],
  end: (arriving) => arriving.endInPieces(),
};
