/** The entries of one period. */
export interface PeriodEntries<Value> {
  readonly size: number;
  get(key: string): Value | undefined;
  set(key: string, value: Value): unknown;
  delete(key: string): unknown;
}

/**
 * A map that drops entries in bulk. It has two generations, and drops the older one when the newer one is a period old.
 * Each entry lives for at least one period, and at most two while entries keep coming. It needs no timer and no
 * bookkeeping per entry.
 */
export class RotatingMap<Value> {
  readonly #makeGeneration: (expected: number) => PeriodEntries<Value>;
  /**
   * Every entry that was set after this moment is still here, in epoch milliseconds; `-Infinity` while nothing was
   * dropped. This also holds after the clock was stepped.
   */
  forgottenUntil = Number.NEGATIVE_INFINITY;

  readonly #periodMs: number;
  #newer: PeriodEntries<Value>;
  #older: PeriodEntries<Value>;
  #newerSince = Number.NEGATIVE_INFINITY;
  #newerLatest = Number.NEGATIVE_INFINITY;
  #olderLatest = Number.NEGATIVE_INFINITY;

  /**
   * @param makeGeneration - makes the container for the entries of one period; it gets the number of entries of the
   * last period. Default: a `Map`.
   */
  constructor(periodMs: number, makeGeneration: (expected: number) => PeriodEntries<Value> = () => new Map()) {
    this.#periodMs = periodMs;
    this.#makeGeneration = makeGeneration;
    this.#newer = makeGeneration(0);
    this.#older = makeGeneration(0);
  }

  get size(): number {
    return this.#newer.size + this.#older.size;
  }

  get(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  /** Sets an entry. Its lifetime starts again. */
  set(key: string, value: Value, now: number): void {
    this.#rotate(now);
    this.#older.delete(key);
    this.#put(key, value, now);
  }

  /** The same for an entry that is not in the map; it saves the search. */
  add(key: string, value: Value, now: number): void {
    this.#rotate(now);
    this.#put(key, value, now);
  }

  delete(key: string): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }

  #put(key: string, value: Value, now: number): void {
    this.#newer.set(key, value);
    if (now > this.#newerLatest) this.#newerLatest = now;
  }

  #rotate(now: number): void {
    // A clock that was stepped back must not keep a generation alive until it has caught up.
    if (now < this.#newerSince) this.#newerSince = now;
    if (now - this.#newerSince < this.#periodMs) return;
    this.forgottenUntil = Math.max(this.forgottenUntil, this.#olderLatest);
    this.#older = this.#newer;
    this.#olderLatest = this.#newerLatest;
    this.#newer = this.#makeGeneration(this.#older.size);
    this.#newerSince = now;
    this.#newerLatest = Number.NEGATIVE_INFINITY;
  }
}
