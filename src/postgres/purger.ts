const stepSize = 1_000;
const pauseMs = 60_000;
const pauseWhileMoreMs = 1_000;

/** Runs one step of the retention now and then, after an operation and without a timer of its own. */
export class Purger {
  readonly #purge: (stepSize: number) => Promise<boolean>;
  #next = 0;
  #running: Promise<void> | undefined;

  /** @param purge - drops at most so many rows, and answers whether there may be more. */
  constructor(purge: (stepSize: number) => Promise<boolean>) {
    this.#purge = purge;
  }

  /** Starts a step if one is due. */
  touch(): void {
    const now = performance.now();
    if (now < this.#next || this.#running !== undefined) return;
    this.#next = now + pauseMs;
    this.#running = this.#step().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when no step is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #step(): Promise<void> {
    try {
      if (await this.#purge(stepSize)) this.#next = performance.now() + pauseWhileMoreMs;
    } catch {
      // No caller waits for it: the next step does what this one did not.
    }
  }
}
