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

export function isPieceSource(body: unknown): body is PieceSource {
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
