interface Wait {
  readonly firstTick: number;
  readonly expire: () => void;
}

const leastTicks = 10;
/** For as long the timer may go on when nothing waits any more, and keep the process alive unless it is closed. */
const longestTickMs = 200;

/** What was waited for took too long. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

/**
 * Bounds how long is waited for what others promise. All that wait share one timer, which runs only while something waits.
 * It counts its ticks instead of comparing times: what a blocked event loop has kept this process from reading is not late.
 */
export class TimeLimit {
  readonly ms: number;
  readonly #ticks: number;
  readonly #mostTicks: number;
  readonly #waits = new Set<Wait>();
  #tick = 0;
  /** When something was heard last. */
  #heardTick = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  /**
   * @param ms - at least so long is waited, and about a tenth longer at most.
   * @param mostMs - how long is waited for one that has much to do: while something is {@link TimeLimit.heard} of it.
   */
  constructor(ms: number, mostMs = ms) {
    this.ms = ms;
    this.#ticks = Math.max(leastTicks, Math.ceil(ms / longestTickMs));
    this.#mostTicks = Math.ceil((mostMs * this.#ticks) / ms);
  }

  /** Who is waited for has given another answer, so it is there. */
  heard(): void {
    this.#heardTick = this.#tick;
  }

  /**
   * Resolves or rejects as the answer does.
   * @throws TimeLimitError when that takes too long. What comes of the answer later is dropped.
   */
  race<Answer>(answer: PromiseLike<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const wait: Wait = {
        firstTick: this.#tick,
        expire: () => reject(new TimeLimitError(`There was no answer in time (${this.ms} ms).`)),
      };
      this.#waits.add(wait);
      this.#timer ??= this.#start();
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

  /** From now on neither what waits nor what will keeps the process alive; it is still waited for. */
  close(): void {
    this.#isClosed = true;
    if (this.#waits.size === 0) this.#stop();
    else if (typeof this.#timer === "object") this.#timer.unref?.();
  }

  #start(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => this.#expire(), this.ms / this.#ticks);
    if (this.#isClosed && typeof timer === "object") timer.unref?.();
    return timer;
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #expire(): void {
    this.#tick++;
    for (const wait of this.#waits) {
      const silentSince = Math.max(wait.firstTick, this.#heardTick);
      if (this.#tick - silentSince <= this.#ticks && this.#tick - wait.firstTick <= this.#mostTicks) continue;
      this.#waits.delete(wait);
      wait.expire();
    }
    if (this.#waits.size === 0) this.#stop();
  }
}
