/** Calls back when it was not started again for so long. One timer serves all the starts. */
export class RestartableTimer {
  readonly #afterMs: number;
  readonly #expired: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(afterMs: number, expired: () => void) {
    this.#afterMs = afterMs;
    this.#expired = expired;
  }

  /** Counts from now on. */
  start(): void {
    if (typeof this.#timer === "object" && typeof this.#timer.refresh === "function") {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#expired, this.#afterMs);
    // What it watches has a connection, which keeps the process alive as long as need be.
    if (typeof this.#timer === "object") this.#timer.unref?.();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
