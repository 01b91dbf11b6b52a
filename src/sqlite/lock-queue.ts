import { setImmediate, setTimeout } from "node:timers/promises";
import { isLocked } from "./is-locked.js";

interface Waiting {
  readonly work: () => unknown;
  readonly until: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Most locks are gone within a millisecond; a backup or a migration holds one for seconds. */
const pausesMs = [0, 1, 1, 2, 2, 5, 5, 10, 10];
const longestPauseMs = 20;
/** As much is done without a break: after it, the process attends to its other work. */
const worksPerTurn = 64;

/**
 * Does work in a database that another process may have locked: at once where it can, else as soon as the lock is gone.
 * SQLite's own way of waiting would block the process for as long. What waits is done in its order, one after the other.
 */
export class LockQueue {
  readonly #longestWaitMs: number;
  readonly #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;

  constructor(longestWaitMs: number) {
    this.#longestWaitMs = longestWaitMs;
  }

  /**
   * @param work - does all or nothing, as it is done again from its beginning.
   * @returns a promise only where it has to wait.
   * @throws what the work throws, and SQLite's error after it has waited for too long.
   */
  run<Result>(work: () => Result): Result | Promise<Result> {
    if (this.#waiting.length === 0) {
      try {
        return work();
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
    }
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.#longestWaitMs;
      this.#waiting.push({ work, until, resolve: resolve as (result: unknown) => void, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  async #drain(): Promise<void> {
    for (let attempt = 0; this.#waiting.length > 0; attempt++) {
      const pauseMs = pausesMs[attempt] ?? longestPauseMs;
      // Not all processes at the same moment.
      await (pauseMs === 0 ? setImmediate() : setTimeout(pauseMs * (0.5 + Math.random() / 2)));
      if (this.#doSome()) attempt = -1;
    }
    // In the same step: what comes later, even as the next callback, begins anew.
    this.#draining = undefined;
  }

  /** @returns whether the database was free. */
  #doSome(): boolean {
    const some = this.#waiting.slice(0, worksPerTurn);
    let done = 0;
    let isFree = true;
    for (const { work, until, resolve, reject } of some) {
      try {
        resolve(work());
      } catch (error) {
        isFree = !isLocked(error);
        // Rejects those that have waited for long enough; the others wait on.
        if (!isFree && performance.now() < until) break;
        reject(error);
      }
      done++;
    }
    this.#waiting.splice(0, done);
    return isFree;
  }
}
