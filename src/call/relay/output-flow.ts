import type { Clock } from "../../ledger/calendar.js";
import type { StreamProgress } from "../../prices/progress.js";

/** A longer gap in the output, in milliseconds, is not counted: the model was reasoning, or was idle. */
const longestGapMs = 2000;

/**
 * Measures in how much time the output of a stream arrived. It counts only the time in which the gateway waited for the
 * upstream. So a slow client does not make the model look slow.
 */
export class OutputFlow {
  readonly #clock: Clock;
  #isOn: boolean;
  #askedAt = 0;
  #seen = 0;
  #ms = 0;
  #completeAt: number | undefined;

  /**
   * @param isOn - measure from the beginning. Otherwise measuring starts when the model reasons, since reading the
   * clock has a cost.
   */
  constructor(clock: Clock, isOn: boolean) {
    this.#clock = clock;
    this.#isOn = isOn;
  }

  /** The time in which output arrived, in milliseconds. */
  get ms(): number {
    return this.#ms;
  }

  /** When all output had come, in epoch milliseconds: nothing was written after it. `undefined`: more may come. */
  get completeAt(): number | undefined {
    return this.#completeAt;
  }

  /** The relay reads on. */
  asked(): void {
    if (this.#isOn) this.#askedAt = this.#clock.now();
  }

  /** A piece has arrived. */
  came({ seenOutput: seen, reasons, isComplete }: Pick<StreamProgress, "seenOutput" | "reasons" | "isComplete">): void {
    this.#isOn ||= reasons;
    if (!this.#isOn) return;
    this.#completeAt = isComplete ? (this.#completeAt ?? this.#clock.now()) : undefined;
    if (seen === this.#seen) return;
    const isFirst = this.#seen === 0;
    this.#seen = seen;
    const waitedMs = this.#clock.now() - this.#askedAt;
    // The time before the first output is not counted.
    if (!isFirst && waitedMs > 0 && waitedMs <= longestGapMs) this.#ms += waitedMs;
  }
}
