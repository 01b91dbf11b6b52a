import type { Micro } from "../metering/micro.js";

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
