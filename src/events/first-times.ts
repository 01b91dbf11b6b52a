/** Tells what happens for the first time from its repetitions. It remembers 1,000 keys, and takes further ones for known. */
export class FirstTimes {
  readonly #known = new Set<string>();

  /** Whether this is the first time for the key. */
  isFirst(key: string): boolean {
    if (this.#known.has(key) || this.#known.size >= mostKnown) return false;
    this.#known.add(key);
    return true;
  }
}

const mostKnown = 1000;
