/** So many resting keys are remembered before those that rest no longer are forgotten. */
const mostResting = 200;

/** Spreads calls over several keys of one upstream. A key at its limit rests. */
export class KeyRing {
  readonly #now: () => number;
  /** Until when keys rest, in milliseconds of the clock. */
  readonly #restsUntil = new Map<string, number>();
  #turn = 0;

  /** @param now - a clock that is never set back, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * The key whose turn it is, of those that do not rest and were not tried.
   * @returns `undefined` where there is no such key. For a call that has tried none, it is then the key that rests the
   * shortest: a key that seems to be at its limit is better than none.
   */
  take(keys: readonly string[], tried: ReadonlySet<string>): string | undefined {
    const now = this.#now();
    const first = this.#turn++;
    let soonest: string | undefined;
    let soonestAt = Number.POSITIVE_INFINITY;
    for (let place = 0; place < keys.length; place++) {
      const key = keys[(first + place) % keys.length] ?? "";
      if (tried.has(key)) continue;
      const restsUntil = this.#restsUntil.get(key) ?? 0;
      if (restsUntil <= now) return key;
      if (restsUntil < soonestAt) [soonest, soonestAt] = [key, restsUntil];
    }
    return tried.size === 0 ? soonest : undefined;
  }

  rest(key: string, ms: number): void {
    const now = this.#now();
    if (this.#restsUntil.size >= mostResting) {
      for (const [each, until] of this.#restsUntil) if (until <= now) this.#restsUntil.delete(each);
    }
    this.#restsUntil.set(key, now + ms);
  }
}
