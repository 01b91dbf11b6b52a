/**
 * The pieces of a request's body. It lets go of them when they are sent, as undici keeps a request until its response has
 * ended; or, where they may have to be sent once more, when it is told to.
 */
export class SentPieces implements Iterable<Uint8Array> {
  #pieces: readonly Uint8Array[];
  /** Whether they stay until {@link letGo}. */
  mayBeRepeated = false;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  [Symbol.iterator](): Iterator<Uint8Array> {
    const pieces = this.#pieces;
    if (!this.mayBeRepeated) this.letGo();
    // An iterator of an array lets go of it at its end.
    return pieces[Symbol.iterator]();
  }

  letGo(): void {
    this.#pieces = [];
  }
}
