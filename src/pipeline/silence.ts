/** Nothing came while it was waited for. */
export const silence = Symbol("silence");

/** Waits for promises, but not in silence for longer than a set time. One timer serves them all. */
export class SilenceTimer {
  readonly #afterMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wake: ((value: typeof silence) => void) | undefined;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** The promise's value, or {@link silence}; the promise can then be waited for again. */
  wait<Value>(promise: Promise<Value>): Promise<Value | typeof silence> {
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
    this.#timer = setTimeout(() => this.#wake?.(silence), this.#afterMs);
  }
}
