import type { Clock } from "../ledger/clock.js";

/** A longer wait for output, in milliseconds, is one in which the model thought, or did nothing. */
const longestGapMs = 2000;

/**
 * Measures how long it took until the output of a stream came. Only the time counts in which the gateway waited for the
 * upstream: a client that reads slowly does not make its model look slow.
 */
export class OutputFlow {
  readonly #clock: Clock;
  #askedAt = 0;
  #seen = 0;
  #ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time in which output came, in milliseconds. */
  get ms(): number {
    return this.#ms;
  }

  /** The upstream is asked for more. */
  asked(): void {
    this.#askedAt = this.#clock.now();
  }

  /**
   * Something has come.
   * @param seen - the whole output so far, in any unit.
   */
  came(seen: number): void {
    if (seen === this.#seen) return;
    const isFirst = this.#seen === 0;
    this.#seen = seen;
    const waitedMs = this.#clock.now() - this.#askedAt;
    // What went before the first output was no output's time.
    if (!isFirst && waitedMs > 0 && waitedMs <= longestGapMs) this.#ms += waitedMs;
  }
}
