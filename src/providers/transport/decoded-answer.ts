import { Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { DirectAnswer } from "../direct-call.js";
import { isUpstreamError, UpstreamError } from "../upstream-provider.js";
import type { ReceivedBody } from "./received-body.js";
import type { UndiciAnswer } from "./undici-answer.js";

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
export function decodedAnswer(answer: UndiciAnswer, encoding: string): DirectAnswer | undefined {
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
