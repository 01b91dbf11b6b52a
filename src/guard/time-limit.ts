interface Wait {
  readonly lastTick: number;
  readonly expire: () => void;
}

const ticksPerLimit = 10;

/** What was waited for took too long. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

/**
 * Bounds how long is waited for what others promise. All that wait share one timer, which runs only while something waits.
 * It counts its ticks instead of comparing times: what a blocked event loop has kept this process from reading is not late.
 */
export class TimeLimit {
  readonly #ms: number;
  readonly #waits = new Set<Wait>();
  #tick = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param ms - at least so long is waited, and about a tenth longer at most. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /**
   * Resolves or rejects as the answer does.
   * @throws TimeLimitError when that takes too long. What comes of the answer later is dropped.
   */
  race<Answer>(answer: PromiseLike<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const wait: Wait = {
        lastTick: this.#tick + ticksPerLimit,
        expire: () => reject(new TimeLimitError(`There was no answer within ${this.#ms} ms.`)),
      };
      this.#waits.add(wait);
      this.#timer ??= setInterval(() => this.#expire(), this.#ms / ticksPerLimit);
      answer.then(
        (value) => {
          this.#waits.delete(wait);
          resolve(value);
        },
        (error: unknown) => {
          this.#waits.delete(wait);
          reject(error);
        },
      );
    });
  }

  #expire(): void {
    this.#tick++;
    for (const wait of this.#waits) {
      // In the order in which they began.
      if (wait.lastTick >= this.#tick) break;
      this.#waits.delete(wait);
      wait.expire();
    }
    if (this.#waits.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
