/** Where a ledger takes its time from. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

/** The process's own clock. It reads `Date.now` at each call, so that faked timers take effect. */
export const systemClock: Clock = { now: () => Date.now() };

/** So far may the clocks of processes and databases be apart, in milliseconds. */
export const mostSkewMs = 1_000;
