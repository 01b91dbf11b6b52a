import type { Readable } from "node:stream";
import {
  type AbortNotifier,
  BodyError,
  type BodyLimits,
  type BodyShape,
  type GatewayRequest,
  type HostRequest,
  inOnePiece,
  inPieces,
  NodeHostRequest,
} from "../gateway/gateway.js";
import type { NodeClient } from "./node-client.js";
import type { NodePair } from "./node-pair.js";
import { parsedBodyBytes } from "./node-parsed-body.js";
import { readNodeBody } from "./node-read-body.js";

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

  hostRequest(): HostRequest {
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
