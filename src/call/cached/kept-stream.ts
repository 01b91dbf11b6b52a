import { Buffer } from "node:buffer";

/** A stream on its way to its client, of which a copy is kept, unless it is too long. */
export class KeptStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #most: number;
  readonly #ended: (bytes: Buffer) => void;
  #copies: Buffer[] | undefined = [];
  #length = 0;

  /** @param ended - gets all of the stream after its regular end. */
  constructor(body: AsyncIterable<Uint8Array>, most: number, ended: (bytes: Buffer) => void) {
    this.#pieces = body[Symbol.asyncIterator]();
    this.#most = most;
    this.#ended = ended;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const step = await this.#pieces.next();
    if (!step.done) {
      this.#copy(step.value);
      return step;
    }
    const copies = this.#copies;
    this.#copies = undefined;
    if (copies !== undefined) this.#ended(Buffer.concat(copies));
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#copies = undefined;
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }

  #copy(piece: Uint8Array): void {
    if (this.#copies === undefined) return;
    this.#length += piece.length;
    // The relay writes its next piece over this one.
    if (this.#length <= this.#most) this.#copies.push(Buffer.from(piece));
    else this.#copies = undefined;
  }
}
