interface Wait {
  /** What has a smaller number was under way when it began. */
  readonly before: number;
  /** How much of that is under way still. */
  left: number;
  end(): void;
}

/**
 * Lets callers wait until all has ended that was under way when they came. A wait takes the same room, however much is under
 * way, and leaves nothing behind when it is given up.
 */
export class IdleWaits {
  readonly #waits = new Set<Wait>();
  #begun = 0;

  /** Something begins. @returns its number, for {@link ended}. */
  begin(): number {
    return this.#begun++;
  }

  /** What has this number has ended. To be called once for each. */
  ended(number: number): void {
    for (const wait of this.#waits) if (number < wait.before && --wait.left === 0) wait.end();
  }

  /**
   * Resolves when all that is under way has ended, or after `maxMs`. The timer does not keep the process alive.
   * @param underWay - how much has begun and not ended.
   */
  idle(underWay: number, maxMs: number): Promise<void> {
    if (underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waits.delete(wait);
        resolve();
      };
      const timer = setTimeout(end, maxMs);
      if (typeof timer === "object") timer.unref?.();
      const wait: Wait = { before: this.#begun, left: underWay, end };
      this.#waits.add(wait);
    });
  }
}
