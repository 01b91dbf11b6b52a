import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Readable, Stream } from "node:stream";
import {
  AbortNotifier,
  ArrivingBody,
  BodyError,
  type BodyLimits,
  type BodyShape,
  type GatewayRequest,
  inOnePiece,
  inPieces,
  NodeHostRequest,
} from "../gateway/gateway.js";

/** A Node request as the gateway reads it, without a web class between. */
export class NodeRequest implements GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly #req: NodePair["req"];
  readonly #raw: unknown;
  readonly #client: NodeClient;
  readonly #payload: Readable;

  /** @param payload - what the host has made of the request's stream, such as its inflated content. */
  constructor({ req, raw }: Omit<NodePair, "res">, client: NodeClient, path: string, payload: Readable) {
    this.#req = req;
    this.#raw = raw;
    this.#client = client;
    this.#payload = payload;
    this.method = req.method ?? "GET";
    this.path = path;
  }

  get query(): string {
    const { url = "" } = this.#req;
    const mark = url.indexOf("?");
    return mark < 0 ? "" : url.slice(mark + 1);
  }

  header(name: string): string | undefined {
    switch (name) {
      case "authorization":
        return this.#authorization();
      case "content-encoding":
        return this.#isDecoded() ? undefined : this.#header(name);
      case "content-type":
        return this.#isParsedJson() ? "application/json" : this.#header(name);
      case "host":
        // HTTP/2 has it under this name (RFC 9113, section 8.3.1), which no header of HTTP/1 can have.
        return this.#header(":authority") ?? this.#header(name);
      default:
        return this.#header(name);
    }
  }

  hostRequest(): NodeHostRequest {
    return new NodeHostRequest(this.#req, this.#raw ?? this.#req);
  }

  get isBodyTaken(): boolean {
    return this.#payload.readableDidRead;
  }

  get signal(): AbortNotifier {
    return this.#client.signal;
  }

  get stalled(): boolean {
    return this.#client.stalled;
  }

  body(limits: BodyLimits): Promise<Uint8Array> {
    return this.#read(limits, inOnePiece);
  }

  bodyInPieces(limits: BodyLimits): Promise<readonly Uint8Array[]> {
    return this.#read(limits, inPieces);
  }

  #read<Body>(limits: BodyLimits, shape: BodyShape<Body>): Promise<Body> {
    if (this.#isConsumed()) return this.#readParsed(limits, shape);
    const length = Number(this.#header("content-length"));
    if (length > limits.maxBytes) return Promise.reject(new BodyError("too_large"));
    // A body that middleware has replaced, or one in chunks, does not have this length.
    const isFramed = this.#payload === this.#req && this.#header("transfer-encoding") === undefined;
    return readNodeBody(this.#payload, isFramed ? length : Number.NaN, limits, shape);
  }

  async #readParsed<Body>(limits: BodyLimits, shape: BodyShape<Body>): Promise<Body> {
    // Of a form that was parsed, the files are not in it.
    const bytes = this.#isParsedForm() ? new Uint8Array() : parsedBodyBytes(this.#parsedBody());
    const failure = bytes.length > limits.maxBytes ? "too_large" : limits.arrived(bytes.length);
    if (failure !== undefined) throw new BodyError(failure);
    return shape.of(bytes);
  }

  #header(name: string): string | undefined {
    const value = this.#req.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  /** Node keeps only the first of two; the gateway must see that there are two. */
  #authorization(): string | undefined {
    const { rawHeaders } = this.#req;
    let sent: string | undefined;
    let isRepeated = false;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = rawHeaders[index];
      if (name?.length !== "authorization".length || name.toLowerCase() !== "authorization") continue;
      const value = rawHeaders[index + 1] ?? "";
      isRepeated = sent !== undefined;
      sent = sent === undefined ? value : `${sent}, ${value}`;
    }
    // One alone is read where the host's own middleware may have put it.
    return isRepeated ? sent : this.#req.headers.authorization;
  }

  /** What the host's own body parser made of the body. */
  #parsedBody(): unknown {
    return "body" in this.#req ? this.#req.body : undefined;
  }

  /** `req.body` alone proves nothing: Express 4's parsers set it to `{}` for bodies that they do not read. */
  #isConsumed(): boolean {
    const { readableDidRead, readableEnded } = this.#payload;
    return readableEnded || (readableDidRead && this.#parsedBody() !== undefined);
  }

  /** Parsers inflate what they read. */
  #isDecoded(): boolean {
    return this.#payload !== this.#req || this.#isConsumed();
  }

  /** An object is what the host took for JSON, whatever the client called it; but forms become objects, too. */
  #isParsedJson(): boolean {
    return this.#isConsumed() && this.#isParsedObject() && !this.#isForm();
  }

  #isParsedForm(): boolean {
    return this.#isParsedObject() && this.#isForm();
  }

  #isParsedObject(): boolean {
    const body = this.#parsedBody();
    return typeof body === "object" && body !== null && !(body instanceof Uint8Array);
  }

  #isForm(): boolean {
    return /^(?:application\/x-www-form-urlencoded|multipart\/)/i.test(this.#header("content-type") ?? "");
  }
}

/** Watches whether the client is still there to take its response. */
export class NodeClient {
  #answered = false;
  #stalled = false;
  readonly #notifier = new AbortNotifier();
  readonly #res: NodeOutgoing;
  readonly maxStallMs: number;

  /** @param maxStallMs - how long the client may take nothing of its response. The writer of the response uses it. */
  constructor({ req, res }: NodePair, maxStallMs: number, connections: Connections) {
    this.#res = res;
    this.maxStallMs = maxStallMs;
    if (isClosed(res)) {
      this.#notifier.abort();
      return;
    }
    // The response's own properties at its end differ between the versions of HTTP, and the host may have ended it.
    onClosed(res, () => {
      if (!this.#answered) this.#abort();
    });
    if (res.socket === null) this.#watchConnection(req, connections);
  }

  /** The connection was closed before the response was complete. */
  get gone(): boolean {
    return this.#notifier.aborted;
  }

  /** The client was given up because it took nothing of its response. */
  get stalled(): boolean {
    return this.#stalled;
  }

  /** The client takes nothing of its response: from now on it counts as gone. */
  giveUp(): void {
    this.#stalled = true;
    this.#abort();
    this.#res.destroy();
  }

  /** All of the response is written: it does not matter any more whether the client leaves. */
  answered(): void {
    this.#answered = true;
  }

  /** Aborted when the client goes. */
  get signal(): AbortNotifier {
    return this.#notifier;
  }

  /**
   * A response that waits for the one before it on a pipelined connection has no socket, and gets no event of its end.
   */
  #watchConnection({ socket }: NodeIncoming, connections: Connections): void {
    onClosed(
      this.#res,
      connections.onceClosed(socket, () => this.#abort()),
    );
    if (socket.destroyed) this.#abort();
  }

  #abort(): void {
    this.#notifier.abort();
  }
}

/** HTTP/2's response has no such property of its own. */
function isClosed(res: NodeOutgoing): boolean {
  return "stream" in res ? res.stream.destroyed : res.destroyed;
}

/** The connections of a mounted gateway on which responses wait for those before them. */
export class Connections {
  readonly #waiting = new WeakMap<Stream, Set<() => void>>();

  /**
   * One listener for each connection, however many responses wait on it: Node warns of more than ten.
   * @returns takes the listener off again.
   */
  onceClosed(socket: Stream, listener: () => void): () => void {
    let listeners = this.#waiting.get(socket);
    if (listeners === undefined) {
      const all = new Set<() => void>();
      listeners = all;
      this.#waiting.set(socket, all);
      onClosed(socket, () => {
        for (const notify of all) notify();
      });
    }
    const own = listeners.add(listener);
    return () => void own.delete(listener);
  }
}

/** It happens once: to take the listener off again would only take time. */
function onClosed(stream: Stream, listener: () => void): void {
  stream.on("close", listener);
}

/** A request of `node:http`, or of the compatibility API of `node:http2`. */
export type NodeIncoming = IncomingMessage | Http2ServerRequest;

/** A response of `node:http`, or of the compatibility API of `node:http2`. */
export type NodeOutgoing = ServerResponse | Http2ServerResponse;

export interface NodePair {
  readonly req: NodeIncoming;
  readonly res: NodeOutgoing;
  /** What the framework calls the request. Absent: `req` itself. */
  readonly raw?: unknown;
}

/**
 * Reads a request's body. The rest of a body that fails stays unread.
 * @param length - in bytes, as the request announces it for this very stream; `NaN`: it does not.
 * @throws BodyError
 */
export function readNodeBody<Body>(
  stream: Readable,
  length: number,
  limits: BodyLimits,
  shape: BodyShape<Body>,
): Promise<Body> {
  // Node hands out the headers before what has come with them, which mostly is all of it.
  return nextMicrotask.then(() => {
    const taken = takeBody(stream, length);
    return taken === undefined ? readToEnd(stream, limits, shape) : shape.of(taken);
  });
}

const nextMicrotask = Promise.resolve();

/** What has come, if that is all: it takes neither listeners nor a timer. */
function takeBody(stream: Readable, length: number): Uint8Array | undefined {
  if (stream.destroyed) throw new BodyError("aborted");
  if (stream.readableLength !== length || stream.readableEncoding !== null) return undefined;
  const body: Uint8Array | null = stream.read();
  if (body === null) return undefined;
  // The stream's `end` has yet to come: others may wait for it.
  stream.resume();
  return body;
}

function readToEnd<Body>(stream: Readable, limits: BodyLimits, shape: BodyShape<Body>): Promise<Body> {
  return new Promise((resolve, reject) => {
    // To take the listeners off takes time, and only the stream's end can follow. So they stay as long as the request;
    // `ArrivingBody` keeps no bytes once it is over.
    const body = new ArrivingBody(limits, (error) => {
      stream.off("data", take).off("end", end).off("error", abort).off("close", abort);
      stream.pause();
      reject(error);
    });
    const take = (piece: Uint8Array | string) => body.take(typeof piece === "string" ? Buffer.from(piece) : piece);
    const end = () => {
      const read = shape.end(body);
      if (read !== undefined) resolve(read);
    };
    const abort = (cause?: unknown) => body.fail("aborted", cause);
    stream.on("data", take).on("end", end).on("error", abort).on("close", abort);
    // Middleware may have paused it.
    stream.resume();
  });
}

/** The bytes of a body that the host has read: bytes and text as they are, anything else as JSON again. */
function parsedBodyBytes(body: unknown): Uint8Array {
  if (body === undefined || body === null) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : stringify(body));
}

/** Deeper than {@link GatewayOptions.maxBodyDepth} can allow. */
const tooDeep = "[".repeat(5001);

/** `JSON.parse` reads deeper than `JSON.stringify` can write; the gateway is to refuse such a body as any deep one. */
function stringify(body: unknown): string {
  try {
    return JSON.stringify(body) ?? "";
  } catch (error) {
    if (error instanceof RangeError) return tooDeep;
    throw error;
  }
}
