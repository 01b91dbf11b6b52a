import { readable } from "../host-code/thrown.js";
import { isLedgerRefusal } from "./is-ledger-refusal.js";
import type { TimeLimit, TimeLimitError, Wait } from "./time-limit.js";

const firstPauseMs = 20;

/**
 * An operation of a ledger, which is sent again while it fails, until its caller's time is over. It is an object, and not a
 * chain of functions that wait for each other: each of these would cost every call a promise and more.
 */
export abstract class LedgerCall<Result> implements Wait {
  firstTick = 0;
  place = -1;
  readonly #limit: TimeLimit;
  readonly #startedAt = performance.now();
  #attempts = 0;
  #isOver = false;

  constructor(limit: TimeLimit) {
    this.#limit = limit;
  }

  protected abstract send(): Promise<Result>;
  /** @returns whether it may be sent again. @param attempts - how many have failed by now. */
  protected abstract mayRepeat(error: unknown, attempts: number): boolean;
  protected abstract succeed(result: Result): void;
  /** @param error - a refusal, what the last attempt failed with, or a {@link TimeLimitError}. */
  protected abstract fail(error: unknown): void;
  /** Gets the result of an attempt that ended too late for the caller. */
  protected late(_result: Result): void {}

  start(): void {
    this.#limit.begin(this);
    this.#attempt();
  }

  expire(error: TimeLimitError): void {
    this.#isOver = true;
    this.fail(error);
  }

  #attempt(): void {
    this.#attempts++;
    let sent: Promise<Result>;
    try {
      // A host's own ledger may return its result without a promise.
      sent = Promise.resolve(this.send());
    } catch (error) {
      this.#failed(readable(error));
      return;
    }
    sent.then(
      (result) => this.#succeeded(result),
      (error: unknown) => this.#failed(readable(error)),
    );
  }

  #succeeded(result: Result): void {
    if (this.#isOver) {
      this.late(result);
      return;
    }
    this.#end();
    try {
      this.succeed(result);
    } catch (error) {
      // A host's own ledger may return anything.
      this.fail(readable(error));
    }
  }

  #failed(error: unknown): void {
    if (this.#isOver) return;
    const isLast = isLedgerRefusal(error) || !this.mayRepeat(error, this.#attempts) || this.#isTooLate();
    if (isLast) {
      this.#end();
      this.fail(error);
      return;
    }
    const pauseMs = firstPauseMs * 2 ** (this.#attempts - 1);
    const timer = setTimeout(() => this.#attempt(), pauseMs * (0.5 + Math.random() / 2));
    // It does not keep the process alive. The time limit of the waiting caller does.
    if (typeof timer === "object") timer.unref?.();
  }

  /** A store that blocks the event loop keeps the time limit from firing. */
  #isTooLate(): boolean {
    return performance.now() - this.#startedAt > this.#limit.ms;
  }

  #end(): void {
    this.#isOver = true;
    this.#limit.end(this);
  }
}
