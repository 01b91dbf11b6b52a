import { type BodyIterator, iteratorOf, leaveBody } from "./body-iterator.js";
import { isPieceSource, type PieceReader, type PieceSource, readPiece } from "./piece-source.js";

/** The body itself if it can be read by callbacks; else the same of its iteration. */
export function pieceSourceOf(body: AsyncIterable<Uint8Array>): PieceSource {
  return isPieceSource(body) ? body : new IteratedPieces(body);
}

/** Reads a body that can only be iterated, such as one of a host's own provider, which may yield anything. */
class IteratedPieces implements PieceSource {
  readonly isByTick = false;
  readonly #body: AsyncIterable<Uint8Array>;
  #iterator: BodyIterator | undefined;
  #reader: PieceReader | undefined;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body;
  }

  [readPiece](reader: PieceReader): void {
    this.#reader = reader;
    try {
      this.#iterator ??= iteratorOf(this.#body);
      Promise.resolve(this.#iterator.next()).then(this.#took, this.#failed);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** It does not wait: a provider that ignores its signal must not delay the client. */
  leave(): void {
    leaveBody(this.#iterator);
  }

  readonly #took = (result: IteratorResult<Uint8Array, unknown>): void => {
    let isEnd: boolean;
    let piece: unknown;
    try {
      isEnd = result.done === true;
      piece = result.value;
    } catch (error) {
      this.leave();
      this.#failed(error);
      return;
    }
    if (isEnd) this.#reader?.ended();
    else this.#reader?.took(piece as Uint8Array);
  };

  readonly #failed = (error: unknown): void => {
    this.#reader?.failed(error);
  };
}
