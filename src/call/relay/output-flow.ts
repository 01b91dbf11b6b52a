import type { Clock } from "../../ledger/clock.js";

/** A longer wait for output, in milliseconds, is one in which the model thought, or did nothing. */
const longestGapMs = 2000;

/**
 * Measures how long it took until the output of a stream came. Only the time counts in which the gateway waited for the
 * upstream: a client that reads slowly does not make its model look slow.
 */
export class OutputFlow {
  readonly #clock: Clock;
  #isOn: boolean;
  #askedAt = 0;
  #seen = 0;
  #ms = 0;

  /** @param isOn - from the beginning; otherwise the clock, which is not free, is not read before the model reasons. */
  constructor(clock: Clock, isOn: boolean) {
    this.#clock = clock;
    this.#isOn = isOn;
  }

  /** The time in which output came, in milliseconds. */
  get ms(): number {
    return this.#ms;
  }

  /** The upstream is asked for more. */
  asked(): void {
    if (this.#isOn) this.#askedAt = this.#clock.now();
  }

  /**
   * Something has come.
   * @param seen - the whole output so far, in any unit.
   * @param reasons - the answer shows reasoning.
   */
  came(seen: number, reasons: boolean): void {
    this.#isOn ||= reasons;
    if (!this.#isOn || seen === this.#seen) return;
    const isFirst = this.#seen === 0;
    this.#seen = seen;
    const waitedMs = this.#clock.now() - this.#askedAt;
    // What went before the first output was no output's time.
    if (!isFirst && waitedMs > 0 && waitedMs <= longestGapMs) this.#ms += waitedMs;
  }
}
