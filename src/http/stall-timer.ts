import { letProcessEnd } from "../runtime/let-process-end.js";

/** How many checks within `maxStallMs` a client may fail. */
const checks = 8;

/**
 * Finds out that a client takes nothing of its response. It checks at intervals, so that a piece of the response costs
 * nothing. It counts checks instead of comparing times: a blocked event loop is not the client's fault.
 */
export class StallTimer {
  readonly #timer: ReturnType<typeof setInterval>;
  #failedChecks = 0;

  /**
   * @param maxStallMs - the least time without progress, in milliseconds; the timer fires at most about a quarter
   * later.
   * @param isTaking - whether the client has taken something since the last call, or has nothing to take.
   * @param stalled - called once.
   */
  constructor(maxStallMs: number, isTaking: () => boolean, stalled: () => void) {
    this.#timer = setInterval(() => {
      this.#failedChecks = isTaking() ? 0 : this.#failedChecks + 1;
      // At the first check the client may have had no time at all.
      if (this.#failedChecks <= checks) return;
      this.stop();
      stalled();
    }, maxStallMs / checks);
    // The timer need not keep the process alive: the client's connection does.
    letProcessEnd(this.#timer);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
