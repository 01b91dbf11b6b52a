import { Buffer } from "node:buffer";
import { Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { runtime } from "../../runtime/this-runtime.js";
import { nextPiece, type PieceReader, type PieceSource, readPiece } from "../../wire/piece-source.js";
import type { DirectResponse } from "../direct-call.js";
import { isUpstreamError, UpstreamError } from "../upstream-provider.js";

/** A response whose headers are parsed when they are first read: of a good one hardly any is. */
export class UndiciResponse implements DirectResponse {
  readonly status: number;
  readonly body: ReceivedBody;
  readonly #raw: readonly Buffer[];
  #headers: Record<string, string> | undefined;

  /** @param headers - names and values in turn, as they were received. */
  constructor(status: number, headers: readonly Buffer[], body: ReceivedBody) {
    this.status = status;
    this.body = body;
    this.#raw = headers;
  }

  get headers(): Record<string, string> {
    this.#headers ??= toRecord(this.#raw);
    return this.#headers;
  }

  takeWhole(): Uint8Array | undefined {
    return this.body.takeWhole();
  }
}

/** Names in lower case; the values of one that came twice are joined (RFC 9110, section 5.2). */
function toRecord(headers: readonly Buffer[]): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = String(headers[index]?.toString("latin1")).toLowerCase();
    const value = String(headers[index + 1]?.toString("latin1"));
    record[name] = name in record ? `${record[name]}, ${value}` : value;
  }
  return record;
}

const decoders: Readonly<Record<string, (() => Transform) | undefined>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * The answer of an upstream that compresses although it was asked not to, as it would be without. It is decoded piece by piece as
 * it is read, so that the limits of answers hold for what it becomes.
 * @returns `undefined` for an encoding that is not known.
 */
export function decodedResponse(answer: UndiciResponse, encoding: string): DirectResponse | undefined {
  const decoder = decoders[encoding]?.();
  if (decoder === undefined) return undefined;
  const headers: Record<string, string> = Object.assign(Object.create(null), answer.headers);
  delete headers["content-encoding"];
  delete headers["content-length"];
  return { status: answer.status, headers, body: new DecodedBody(answer.body, decoder) };
}

const isOver = { done: true, value: undefined } as const;

class DecodedBody implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: ReceivedBody;
  readonly #decoder: Transform;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #isLeft = false;

  constructor(source: ReceivedBody, decoder: Transform) {
    this.#source = source;
    this.#decoder = decoder;
    this.#pieces = decoder[Symbol.asyncIterator]();
    const received = Readable.from(source, { objectMode: false });
    // What breaks off the one breaks off the other, and its error is the one that the reader gets.
    received.on("error", (error) => decoder.destroy(error));
    received.pipe(decoder);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      const { done, value } = await this.#pieces.next();
      return done === true ? isOver : { done: false, value };
    } catch (cause) {
      if (this.#isLeft) return isOver;
      this.#source.leave();
      if (isUpstreamError(cause)) throw cause;
      throw new UpstreamError("interrupted", "The upstream compressed its answer, and not as it says.", { cause });
    }
  }

  /** Also while a `next` is pending, which then ends. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#isLeft = true;
    this.#source.leave();
    this.#decoder.destroy();
    return isOver;
  }
}

/** What the reader of a body can do to the call that fills it. */
export interface BodySource {
  /** There is room again. */
  resume(): void;
  /** The reader will not read any more. */
  release(): void;
}

/** The most unread bytes before the source has to pause. */
const highWaterMark = 64 * 1024;

/**
 * Bytes on their way from a pushing source to a pulling reader. What came in one tick leaves as one piece, so that a
 * burst of small events costs one round through the relay instead of hundreds.
 */
export class ReceivedBody implements AsyncIterableIterator<Uint8Array, undefined>, PieceSource {
  readonly isByTick = true;
  readonly #source: BodySource;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #state: "open" | "ended" | "failed" | "left" = "open";
  #error: UpstreamError | undefined;
  #reader: PieceReader | undefined;
  #delivering = false;
  #wasRead = false;

  constructor(source: BodySource) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** What has come in this tick is about to be handed to the reader. */
  get isDelivering(): boolean {
    return this.#delivering;
  }

  /** Takes bytes in; false when the source should pause until `resume` is called. */
  push(chunk: Uint8Array): boolean {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#deliverSoon();
    return this.#size <= highWaterMark;
  }

  /** No more bytes: the body is complete. */
  end(): void {
    if (this.#state !== "open") return;
    this.#state = "ended";
    this.#deliverSoon();
  }

  /** No more bytes: the body broke off. What has arrived is still delivered. */
  fail(error: UpstreamError): void {
    if (this.#state !== "open") return;
    this.#state = "failed";
    this.#error = error;
    this.#deliverSoon();
  }

  /** The call is over for our own reasons: what waits unread is dropped. */
  abort(error: UpstreamError): void {
    this.#drop();
    this.fail(error);
  }

  /** All of the body, if it has come to its end and none of it was taken; then it is over. */
  takeWhole(): Uint8Array | undefined {
    if (this.#state !== "ended" || this.#wasRead) return undefined;
    this.#wasRead = true;
    return this.#take();
  }

  [readPiece](reader: PieceReader): void {
    if (this.#reader) throw new TypeError("The body is being read already: wait for the last next().");
    this.#wasRead = true;
    this.#reader = reader;
    // Bytes of this tick may still be coming when a delivery is under way.
    if (!this.#delivering) this.deliver();
  }

  leave(): void {
    const wasOpen = this.#state === "open";
    this.#state = "left";
    this.#drop();
    this.deliver();
    if (wasOpen) this.#source.release();
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return nextPiece(this);
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.leave();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Gives the waiting reader whatever there is to give. */
  deliver(): void {
    this.#delivering = false;
    const reader = this.#reader;
    if (!reader) return;
    if (this.#chunks.length > 0) {
      this.#reader = undefined;
      const value = this.#take();
      // May push the next bytes at once, so it comes after the taking.
      if (this.#state === "open") this.#source.resume();
      reader.took(value);
    } else if (this.#error) {
      const error = this.#error;
      // An iteration reports its failure once, and is over then.
      this.#error = undefined;
      this.#reader = undefined;
      reader.failed(error);
    } else if (this.#state !== "open") {
      this.#reader = undefined;
      reader.ended();
    }
  }

  /** Not at once: the connection is in the middle of its own work, and more may come in this tick. */
  #deliverSoon(): void {
    if (!this.#reader || this.#delivering) return;
    this.#delivering = true;
    runtime.nextTick(deliverBody, this);
  }

  #take(): Uint8Array {
    const chunks = this.#chunks;
    const size = this.#size;
    this.#drop();
    const first = chunks[0];
    return first && chunks.length === 1 ? first : Buffer.concat(chunks, size);
  }

  #drop(): void {
    this.#chunks = [];
    this.#size = 0;
  }
}

function deliverBody(body: ReceivedBody): void {
  body.deliver();
}
