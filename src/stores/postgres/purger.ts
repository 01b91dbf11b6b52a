const stepSize = 1_000;
const pauseMs = 60_000;
const pauseWhileMoreMs = 1_000;
/** Of those that a sweep waits for. */
const mostSteps = 20;

/**
 * Runs one step of the retention now and then, without a timer of its own: behind an operation, or, where nothing may go on
 * behind one, as a part of it.
 */
export class Purger {
  readonly #purge: (stepSize: number) => Promise<boolean>;
  #next = 0;
  #running: Promise<unknown> | undefined;

  /** @param purge - drops at most so many rows, and answers whether there may be more. */
  constructor(purge: (stepSize: number) => Promise<boolean>) {
    this.#purge = purge;
  }

  /** Starts a step if one is due. */
  touch(): void {
    if (this.#running !== undefined || !this.#take()) return;
    this.#running = this.#step().finally(() => {
      this.#running = undefined;
    });
  }

  /** Runs a step if one is due, and waits for no other. */
  async runDue(): Promise<void> {
    if (this.#take()) await this.#step();
  }

  /** Runs steps while there may be more to drop, some at the most. */
  async sweep(): Promise<void> {
    for (let step = 0; step < mostSteps; step++) {
      if (!(await this.#step())) return;
    }
  }

  /** Resolves when no step is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #take(): boolean {
    const now = performance.now();
    if (now < this.#next) return false;
    this.#next = now + pauseMs;
    return true;
  }

  /** @returns whether there may be more. */
  async #step(): Promise<boolean> {
    try {
      if (!(await this.#purge(stepSize))) return false;
      this.#next = performance.now() + pauseWhileMoreMs;
      return true;
    } catch {
      // No caller waits for it: the next step does what this one did not.
      return false;
    }
  }
}
