import { Buffer } from "node:buffer";
import type { GatherRoom } from "./gather-room.js";

/** How much of a stream may be copied, and when it is over. */
export interface CopyTerms {
  /** Whether the call has come to its end, whoever still reads. */
  readonly isOver: () => boolean;
  /** The longest stream that is kept, in bytes. */
  readonly most: number;
  readonly room: GatherRoom;
}

/** A stream on its way to its client, of which a copy is kept, unless it is too long. */
export class KeptStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #terms: CopyTerms;
  readonly #ended: (bytes: Buffer) => void;
  #copies: Buffer[] | undefined = [];
  #length = 0;

  /** @param ended - gets all of the stream after its regular end. */
  constructor(body: AsyncIterable<Uint8Array>, terms: CopyTerms, ended: (bytes: Buffer) => void) {
    this.#pieces = body[Symbol.asyncIterator]();
    this.#terms = terms;
    this.#ended = ended;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      const step = await this.#pieces.next();
      if (!step.done) {
        this.#copy(step.value);
        return step;
      }
    } catch (error) {
      this.#drop();
      throw error;
    }
    const copies = this.#copies;
    this.#drop();
    if (copies !== undefined) this.#ended(Buffer.concat(copies));
    return { done: true, value: undefined };
  }

  /** The client reads no more. Some stop at the last event, before the end of the stream: that is read for them. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#copies !== undefined && this.#terms.isOver()) {
      let step = await this.next();
      while (!step.done) step = await this.next();
      return { done: true, value: undefined };
    }
    this.#drop();
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }

  #copy(piece: Uint8Array): void {
    if (this.#copies === undefined) return;
    const { most, room } = this.#terms;
    if (this.#length + piece.length > most || !room.take(piece.length)) {
      this.#drop();
      return;
    }
    this.#length += piece.length;
    // The relay writes its next piece over this one.
    this.#copies.push(Buffer.from(piece));
  }

  #drop(): void {
    this.#terms.room.giveBack(this.#length);
    this.#copies = undefined;
    this.#length = 0;
  }
}
