/** The most rates of one reservation. */
export const mostRates = 32;

/** What a rate counts. `concurrent`: leases that are open at once. */
export type RateKind = "requests" | "tokens" | "concurrent";

/**
 * A limit per minute, or of what is open at once. The store keeps a token bucket for each: it holds `burst` at the
 * most, and gains `limit` a minute, millisecond by millisecond. One that the store does not know is full.
 */
export interface RateLimit {
  /** Names the bucket within its account: as a {@link ReserveRequest}'s id. Another kind needs another id. */
  id: string;
  kind: RateKind;
  /** What to take before the call: 1 request, the most tokens that it can need, or 1 of `concurrent`. */
  take: number;
  /** Per minute, or at once for `concurrent`: a whole number up to 10⁹. 0 admits nothing. */
  limit: number;
  /** How much can be used at once after a pause: a whole number up to 10⁹. Without meaning for `concurrent`. */
  burst: number;
}

/** What a call really used of a bucket. */
export interface RateUse {
  readonly id: string;
  /** Whole requests or tokens. */
  readonly actual: number;
}

/** A bucket as the store has it now. */
export interface RateState {
  id: string;
  kind: RateKind;
  limit: number;
  /** What is left, in whole requests or tokens; never below 0. */
  remaining: number;
  /** Milliseconds until it is full, if nothing more is taken. Of `concurrent` 0. */
  fullInMs: number;
}

/** Why a rate denies. */
export interface BlockedRate {
  id: string;
  kind: RateKind;
  limit: number;
  /** `held`: calls in progress have taken more than they are likely to use. */
  cause: "used" | "held";
  /** Epoch milliseconds, later than the store's now. `null`: never, as the limit is 0. */
  availableAt: number | null;
}
