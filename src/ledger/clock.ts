/** Where a ledger takes its time from. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

/** The process's own clock. It reads `Date.now` at each call, so that faked timers take effect. */
export const systemClock: Clock = { now: () => Date.now() };
