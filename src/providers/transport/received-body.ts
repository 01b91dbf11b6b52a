import { Buffer } from "node:buffer";
import { nextTick } from "node:process";
import type { UpstreamError } from "../upstream-provider.js";

/** What the reader of a body can do to the call that fills it. */
export interface BodySource {
  /** There is room again. */
  resume(): void;
  /** The reader will not read any more. */
  release(): void;
}

/** The most unread bytes before the source has to pause. */
const highWaterMark = 64 * 1024;

interface Reader {
  resolve(result: IteratorResult<Uint8Array, undefined>): void;
  reject(error: UpstreamError): void;
}

/**
 * Bytes on their way from a pushing source to a pulling reader. What came in one tick leaves as one piece, so that a
 * burst of small events costs one round through the relay instead of hundreds.
 */
export class ReceivedBody implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: BodySource;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #state: "open" | "ended" | "failed" | "left" = "open";
  #error: UpstreamError | undefined;
  #reader: Reader | undefined;
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
    if (this.#reader && !this.#delivering) {
      this.#delivering = true;
      nextTick(deliverBody, this);
    }
    return this.#size <= highWaterMark;
  }

  /** No more bytes: the body is complete. */
  end(): void {
    if (this.#state !== "open") return;
    this.#state = "ended";
    this.deliver();
  }

  /** No more bytes: the body broke off. What has arrived is still delivered. */
  fail(error: UpstreamError): void {
    if (this.#state !== "open") return;
    this.#state = "failed";
    this.#error = error;
    this.deliver();
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

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#reader) return Promise.reject(new TypeError("The body is being read already: wait for the last next()."));
    this.#wasRead = true;
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      // Bytes of this tick may still be coming when a delivery is under way.
      if (!this.#delivering) this.deliver();
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const wasOpen = this.#state === "open";
    this.#state = "left";
    this.#drop();
    this.deliver();
    if (wasOpen) this.#source.release();
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
      reader.resolve({ done: false, value });
    } else if (this.#error) {
      const error = this.#error;
      // An iteration reports its failure once, and is over then.
      this.#error = undefined;
      this.#reader = undefined;
      reader.reject(error);
    } else if (this.#state !== "open") {
      this.#reader = undefined;
      reader.resolve({ done: true, value: undefined });
    }
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
