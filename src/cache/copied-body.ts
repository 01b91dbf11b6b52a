import { Buffer } from "node:buffer";
import type { DirectAnswer } from "../providers/direct-call.js";
import { type BodyIterator, iteratorOf } from "../wire/pieces/body-iterator.js";

/** Bounds what copies of responses under way take together. */
export interface CopyTerms {
  /** The longest response that is kept, in bytes. */
  readonly most: number;
  /** The bytes that all of them may still take. */
  readonly room: { left: number };
}

/** A response on its way to its client, of which a copy is kept, unless it is too long. */
export class CopiedBody implements DirectAnswer, AsyncIterableIterator<Uint8Array, undefined> {
  readonly status: number;
  readonly headers: DirectAnswer["headers"];
  readonly body = this;
  readonly #answer: DirectAnswer;
  readonly #terms: CopyTerms;
  #pieces: BodyIterator | undefined;
  /** `undefined`: nothing is kept of it. */
  #copies: Uint8Array[] | undefined = [];
  #length = 0;
  #taken = 0;
  #isOver = false;

  constructor(answer: DirectAnswer, terms: CopyTerms) {
    this.status = answer.status;
    this.headers = answer.headers;
    this.#answer = answer;
    this.#terms = terms;
  }

  /** What has come; `undefined`: it was too long, or broke off. */
  get copy(): Buffer | undefined {
    return this.#copies && Buffer.concat(this.#copies, this.#length);
  }

  takeWhole(): Uint8Array | undefined {
    const whole = this.#answer.takeWhole?.();
    if (whole === undefined) return undefined;
    this.#length = whole.length;
    this.#copies = whole.length > this.#terms.most ? undefined : [whole];
    return whole;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#pieces ??= iteratorOf(this.#answer.body);
    try {
      const step = await this.#pieces.next();
      if (step.done) this.#giveBack();
      else this.#add(step.value);
      return step;
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  /** Nobody reads on. What has come may be all that there is: the call knows. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#isOver = true;
    this.#giveBack();
    this.#pieces ??= iteratorOf(this.#answer.body);
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }

  #add(piece: Uint8Array): void {
    // A piece that was asked for before nobody read on comes too late.
    if (this.#copies === undefined || this.#isOver) return;
    const { most, room } = this.#terms;
    const { byteLength } = piece;
    if (this.#length + byteLength > most || byteLength > room.left) {
      this.#drop();
      return;
    }
    room.left -= byteLength;
    this.#taken += byteLength;
    this.#length += byteLength;
    // Whoever relays it may write over it.
    this.#copies.push(Buffer.from(piece));
  }

  #drop(): void {
    this.#giveBack();
    this.#copies = undefined;
  }

  #giveBack(): void {
    this.#terms.room.left += this.#taken;
    this.#taken = 0;
  }
}
