/** Bounds the memory of streams of which a copy is made while they go out. */
export class GatherRoom {
  #left: number;

  /** @param bytes - of all copies together. */
  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @returns whether there was room. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}
