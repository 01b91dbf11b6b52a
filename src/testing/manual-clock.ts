import type { Clock } from "../ledger/calendar.js";

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  set(now: number): void {
    this.#now = now;
  }

  /** Moves by so many milliseconds, back if negative. */
  advance(ms: number): void {
    this.#now += ms;
  }
}
