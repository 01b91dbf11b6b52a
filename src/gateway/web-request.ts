import { WebHostRequest } from "../http/host-request.js";
import { ticksPerLook } from "../http/request-body.js";
import { letProcessEnd } from "../runtime/let-process-end.js";
import {
  AbortNotifier,
  ArrivingBody,
  BodyError,
  type BodyLimits,
  type BodyShape,
  type GatewayRequest,
  inOnePiece,
  inPieces,
  type WaitUntil,
} from "./gateway.js";

/** What the gateway reads of a web-standard `Request`, or of what stands for one in this process. */
export interface RequestParts {
  readonly method: string;
  readonly headers: Pick<Headers, "get">;
  readonly signal?: AbortSignal | null | undefined;
  readonly body: ReadableStream<Uint8Array> | Uint8Array | null;
  readonly bodyUsed: boolean;
}

/** What a request is for. */
export interface RequestTarget {
  /** From where the gateway is mounted. */
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
}

/** What a host has in memory of a body that nobody reads, in bytes. */
const shortBody = 16 * 1024;

/** A web-standard request as the gateway reads it. */
export class WebRequest implements GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  waitUntil: WaitUntil | undefined;
  readonly #request: RequestParts;
  readonly #raw: Request | undefined;
  readonly #abort = (): void => this.abort();
  #notifier: AbortNotifier | undefined;
  #stalled = false;
  #hostRequest: WebHostRequest | undefined;

  /** @param raw - what the host's own code gets to see. Absent for calls within this process, which show it nothing. */
  constructor(request: RequestParts, { path, query }: RequestTarget, raw?: Request) {
    this.#request = request;
    this.#raw = raw;
    this.method = request.method;
    this.path = path;
    this.query = query;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  hostRequest(): WebHostRequest | undefined {
    if (this.#raw !== undefined) this.#hostRequest ??= new WebHostRequest(this.#raw);
    return this.#hostRequest;
  }

  /**
   * Requests of hosts on Node, such as Hono's, make a stream of their body only when somebody asks for it, which takes longer
   * than a call. Those of the runtime have one.
   */
  #mayReadAtOnce({ maxBytes, minBytesPerSecond }: BodyLimits): boolean {
    const raw = this.#raw;
    if (raw === undefined || this.#hostRequest !== undefined || Object.getPrototypeOf(raw) === Request.prototype) {
      return false;
    }
    const length = Number(this.header("content-length") ?? Number.NaN);
    return length <= Math.min(shortBody, minBytesPerSecond * ticksPerLook, maxBytes) && !raw.bodyUsed;
  }

  get isBodyTaken(): boolean {
    return this.#source().bodyUsed;
  }

  #source(): RequestParts {
    return this.#hostRequest?.unread() ?? this.#request;
  }

  /** Not the request's own signal: when a client leaves, some hosts only cancel the response's body. */
  get signal(): AbortNotifier {
    if (this.#notifier === undefined) {
      this.#notifier = new AbortNotifier();
      const { signal } = this.#request;
      if (signal?.aborted) this.#notifier.abort();
      else signal?.addEventListener("abort", this.#abort, { once: true });
    }
    return this.#notifier;
  }

  /** The client has left. */
  abort(): void {
    this.#notifier?.abort();
  }

  get stalled(): boolean {
    return this.#stalled;
  }

  /** The client takes nothing of its response: from now on it counts as one that has left. */
  giveUp(): void {
    this.#stalled = true;
    this.abort();
    this.settled();
  }

  /** The response is complete: a client that leaves now changes nothing. */
  settled(): void {
    if (this.#notifier !== undefined) this.#request.signal?.removeEventListener("abort", this.#abort);
  }

  body(limits: BodyLimits): Promise<Uint8Array> {
    return this.#read(limits, inOnePiece);
  }

  bodyInPieces(limits: BodyLimits): Promise<readonly Uint8Array[]> {
    return this.#read(limits, inPieces);
  }

  #read<Body>(limits: BodyLimits, shape: BodyShape<Body>): Promise<Body> {
    if (this.#mayReadAtOnce(limits)) {
      return readAtOnce((this.#raw as Request).arrayBuffer(), { signal: this.signal, limits, shape });
    }
    const { body, bodyUsed } = this.#source();
    if (body instanceof Uint8Array) return wholeBody(body, limits, shape);
    if (body === null || body.locked || bodyUsed) return Promise.resolve(shape.of(new Uint8Array()));
    const reader = body.getReader();
    if (!(Number(this.header("content-length")) > limits.maxBytes)) {
      return readBody(reader, { signal: this.signal, limits, shape });
    }
    discardRest(reader);
    return Promise.reject(new BodyError("too_large"));
  }
}

interface Reading<Body> {
  readonly signal: AbortNotifier;
  readonly limits: BodyLimits;
  readonly shape: BodyShape<Body>;
}

/**
 * Reads a short body of a host's own request. Nothing is seen of it before it is there, but so short a body has to be complete
 * by the first look at its speed anyway.
 */
function readAtOnce<Body>(bytes: Promise<ArrayBuffer>, { signal, limits, shape }: Reading<Body>): Promise<Body> {
  return new Promise((resolve, reject) => {
    const stop = () => signal.removeEventListener("abort", abort);
    const body = new ArrivingBody(limits, (error) => {
      stop();
      reject(error);
    });
    const abort = (cause?: unknown) => body.fail("aborted", cause);
    const came = (all: ArrayBuffer): void => {
      body.take(new Uint8Array(all));
      const whole = shape.end(body);
      if (whole === undefined) return;
      stop();
      resolve(whole);
    };
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    bytes.then(came, abort);
  });
}

/** A body that came at once. */
function wholeBody<Body>(body: Uint8Array, limits: BodyLimits, shape: BodyShape<Body>): Promise<Body> {
  const failure = body.length > limits.maxBytes ? "too_large" : limits.arrived(body.length);
  return failure === undefined ? Promise.resolve(shape.of(body)) : Promise.reject(new BodyError(failure));
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;
type BodyPiece = Awaited<ReturnType<BodyReader["read"]>>;

/** Reads a body to its end, within limits. */
function readBody<Body>(reader: BodyReader, { signal, limits, shape }: Reading<Body>): Promise<Body> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const stop = () => {
      isOver = true;
      signal.removeEventListener("abort", abort);
    };
    const body = new ArrivingBody(limits, (error) => {
      stop();
      reject(error);
      if (error.failure === "aborted") cancel(reader);
      else discardRest(reader);
    });
    const abort = (cause?: unknown) => body.fail("aborted", cause);
    const take = ({ done, value }: BodyPiece): void => {
      if (done) {
        const read = shape.end(body);
        if (read === undefined) return;
        stop();
        resolve(read);
        return;
      }
      body.take(value);
      if (!isOver) reader.read().then(take, abort);
    };
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    else reader.read().then(take, abort);
  });
}

/** How much of an unused body is read, and for how long. */
const mostBytes = 64 * 1024 * 1024;
const mostMs = 2000;

/** Hosts on Node close the connection when a body is cancelled. Then the client could not read its response. */
function discardRest(reader: BodyReader): void {
  let taken = 0;
  const timer = setTimeout(() => cancel(reader), mostMs);
  // The timer need not keep the process alive: the connection does.
  letProcessEnd(timer);
  const take = ({ done, value }: BodyPiece): void => {
    taken += value?.length ?? 0;
    if (!done && taken <= mostBytes) {
      reader.read().then(take, end);
      return;
    }
    end();
    cancel(reader);
  };
  const end = () => clearTimeout(timer);
  reader.read().then(take, end);
}

function cancel(reader: BodyReader): void {
  reader.cancel().catch(() => {});
}
