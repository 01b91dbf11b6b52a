import { letProcessEnd } from "../../runtime/let-process-end.js";

/** Calls back when this much time has passed since the last start. All starts share one timer. */
export class RestartableTimer {
  readonly #afterMs: number;
  readonly #expired: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(afterMs: number, expired: () => void) {
    this.#afterMs = afterMs;
    this.#expired = expired;
  }

  /** Starts counting, or starts again. */
  start(): void {
    if (typeof this.#timer === "object" && typeof this.#timer.refresh === "function") {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#expired, this.#afterMs);
    // The timer need not keep the process alive: the connection that it watches does.
    letProcessEnd(this.#timer);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
