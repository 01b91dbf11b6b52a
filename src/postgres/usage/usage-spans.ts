/** A range of time, in epoch milliseconds. The end is exclusive. */
export interface Span {
  readonly since: number;
  readonly until: number;
}

/** Where usage is read: in sums over all accounts by the quarter of an hour, in sums by the day, and in the journal. */
export interface UsageSpans {
  readonly quarters: readonly Span[];
  readonly days: readonly Span[];
  readonly parts: readonly Span[];
}
