/** So often it is looked whether the client takes anything, before it counts as one that does not. */
const checks = 8;

/**
 * Finds out that a client takes nothing of its response. It checks now and then, so that a piece costs nothing. It
 * counts its checks instead of comparing times, since a blocked event loop is not the client's fault.
 */
export class StallTimer {
  readonly #timer: ReturnType<typeof setInterval>;
  #failedChecks = 0;

  /**
   * @param maxStallMs - for at least so long the client has taken nothing, and about a quarter longer at most.
   * @param isTaking - whether it has taken something since this was last called, or there is nothing for it to take.
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
    // The client's connection keeps the process alive as long as need be.
    if (typeof this.#timer === "object") this.#timer.unref?.();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
