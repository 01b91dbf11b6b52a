/** Gets what is read of a body. Its methods do not throw. */
export interface PieceReader {
  /** The next piece. */
  took(piece: Uint8Array): void;
  /** There is no more. */
  ended(): void;
  /** The body broke off. */
  failed(error: unknown): void;
}

/** The method by which a {@link PieceSource} is read. Hosts' own bodies have no such method. */
export const readPiece = Symbol.for("infergate.readPiece");

/** A body that is read piece by piece by callbacks: a promise for each piece would be most of what a piece costs. */
export interface PieceSource {
  /** Whether all that comes in one tick comes as one piece. */
  readonly isByTick: boolean;
  /**
   * Reads the next piece. One method of the reader is called once, maybe before this returns.
   * @throws TypeError while another reader waits.
   */
  [readPiece](reader: PieceReader): void;
  /** Reads no more. A reader that waits is told that there is no more. */
  leave(): void;
}

function isPieceSource(body: unknown): body is PieceSource {
  return typeof body === "object" && body !== null && readPiece in body;
}

/** The next piece as a promise, for iterators. */
export function nextPiece(source: PieceSource): Promise<IteratorResult<Uint8Array, undefined>> {
  return new Promise((resolve, reject) => source[readPiece](new PromisedPiece(resolve, reject)));
}

class PromisedPiece implements PieceReader {
  readonly #resolve: (result: IteratorResult<Uint8Array, undefined>) => void;
  readonly failed: (error: unknown) => void;

  constructor(resolve: (result: IteratorResult<Uint8Array, undefined>) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve;
    this.failed = reject;
  }

  took(value: Uint8Array): void {
    this.#resolve({ done: false, value });
  }

  ended(): void {
    this.#resolve({ done: true, value: undefined });
  }
}

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

/** A body may also be a list of pieces, as in `for await`. */
export type BodyIterator = AsyncIterator<Uint8Array> | Iterator<Uint8Array>;

export function iteratorOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): BodyIterator {
  return Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
}

/** Ends the reading of a body. It does not wait: a provider that ignores its signal must not delay the client. */
export function leaveBody(iterator: BodyIterator | undefined): void {
  try {
    Promise.resolve(iterator?.return?.()).catch(() => {});
  } catch {}
}

/** Ends a body that is not read. The value may not be a body at all. */
export function leaveUnread(body: AsyncIterable<Uint8Array>): void {
  try {
    leaveBody(iteratorOf(body));
  } catch {}
}
