/** Nothing came for so long that the client needs a sign of life. */
export const overdue = Symbol("overdue");

/** Waits for promises, but not for longer than a set time. One timer serves them all. */
export class KeepAliveTimer {
  readonly #afterMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wake: ((value: typeof overdue) => void) | undefined;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** The promise's value, or {@link overdue}; the promise can then be waited for again. */
  wait<Value>(promise: Promise<Value>): Promise<Value | typeof overdue> {
    this.#restart();
    return new Promise((resolve, reject) => {
      this.#wake = resolve;
      promise.then(resolve, reject);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#wake = undefined;
  }

  #restart(): void {
    if (typeof this.#timer === "object" && typeof this.#timer.refresh === "function") {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#wake?.(overdue), this.#afterMs);
  }
}
