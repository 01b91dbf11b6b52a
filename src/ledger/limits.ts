import type { Micro } from "../prices/micro.js";

/** The most caps of a reservation. */
export const mostCaps = 16;

/** The spans for which a cap can limit charges. `total` never ends. */
export type CapWindow = "day" | "week" | "month" | "total";

/** A limit within an account, such as that of an API key. Each reservation carries the caps that it counts in. */
export interface CapLimit {
  /** Names the counter within its account: as a {@link ReserveRequest}'s id. Another window needs another id. */
  id: string;
  window: CapWindow;
  limitMicro: Micro;
  /** As those of a calendar window; of `total` {@link totalBounds}. */
  bounds: Bounds;
}

/** A cap as the store has it now. Times are epoch milliseconds. */
export interface CapState {
  id: string;
  window: CapWindow;
  limitMicro: Micro;
  /** Settled charges of the current instance, whatever funded them. */
  usedMicro: Micro;
  /** Open reservations of the current instance. */
  heldMicro: Micro;
  /** `null`: no instance is known that is open. */
  startsAt: number | null;
  /** `null`: never, or no instance is open. */
  resetsAt: number | null;
}

/** A cap in which an admitted reservation counts, and its instance at the admission. */
export interface LeasedCap {
  readonly id: string;
  readonly window: CapWindow;
  readonly limitMicro: Micro;
  readonly start: number;
  readonly end: number;
}

/** Why a cap denies. */
export interface BlockedCap {
  id: string;
  window: CapWindow;
  /** `used`: wait for its reset. `held`: calls in progress hold the rest. */
  cause: "used" | "held";
  /** Epoch milliseconds, later than the store's now. `null`: never. */
  availableAt: number | null;
}

/** Four ascending epoch milliseconds around the caller's now: the candidate boundaries of a calendar window. */
export type Bounds = readonly [number, number, number, number];

/** The end of an instance that has none. */
export const neverEnds = Number.MAX_SAFE_INTEGER - 1;

/** The bounds of what never ends. */
export const totalBounds: Bounds = Object.freeze([0, 0, neverEnds, Number.MAX_SAFE_INTEGER]);

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

/** Prepaid credits that end at one moment. */
export interface PrepaidLot {
  /** Epoch milliseconds. `null`: never. */
  readonly expiresAt: number | null;
  readonly leftMicro: Micro;
}

/** The prepaid credits of an account that has, or has had, some, as the store has them now. */
export interface PrepaidState {
  /**
   * What is left of the lots that have not expired, less what is overdrawn. It may be negative: by less than one call,
   * and by what was deducted.
   */
  balanceMicro: Micro;
  /** What the balance is below zero: the account's debt. The next top-up pays it first. Never negative. */
  overdrawnMicro: Micro;
  /** What open reservations hold of prepaid credits. */
  heldMicro: Micro;
  /** The lots that have not expired; the first to expire comes first. */
  lots: readonly PrepaidLot[];
}

export interface TopUpRequest {
  /** Idempotency id, as a {@link ReserveRequest}'s. The id of the payment is a good one. */
  id: string;
  account: string;
  /** At least 1. A {@link DeductRequest} takes back. */
  amountMicro: Micro;
  /** Epoch milliseconds, later than the store's now. Default: never. An account has 100 different ones at the most. */
  expiresAt?: number | undefined;
  /** Who does it, for the journal: a tag `by` of its entry. */
  by?: string | undefined;
  /** Why, for the journal: a tag `note` of its entry. */
  note?: string | undefined;
}

export interface DeductRequest {
  /** Idempotency id, as a {@link ReserveRequest}'s. No top-up has the same. The id of the refund is a good one. */
  id: string;
  account: string;
  /** At least 1. What the account has not, it owes. */
  amountMicro: Micro;
  /** Who does it, for the journal: a tag `by` of its entry. */
  by?: string | undefined;
  /** Why, for the journal: a tag `note` of its entry. */
  note?: string | undefined;
}
