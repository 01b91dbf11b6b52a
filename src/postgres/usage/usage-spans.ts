/** A range of time, in epoch milliseconds. The end is exclusive. */
export interface TimeSpan {
  readonly since: number;
  readonly until: number;
}

/** Where usage is read: in sums over all accounts by the quarter of an hour, in sums by the day, and in the journal. */
export interface UsageSpans {
  readonly quarters: readonly TimeSpan[];
  readonly days: readonly TimeSpan[];
  readonly parts: readonly TimeSpan[];
}
