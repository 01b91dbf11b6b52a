import type { Micro } from "../metering/micro.js";

/** Prepaid credits that end at one moment. */
export interface PrepaidLot {
  /** Epoch milliseconds. `null`: never. */
  readonly expiresAt: number | null;
  readonly leftMicro: Micro;
}

/** The prepaid credits of an account, as the store has them now. */
export interface PrepaidState {
  /** What is left of the lots that have not expired, less what is overdrawn. It may be negative by less than one call. */
  balanceMicro: Micro;
  /** Open reservations that prepaid credits fund. */
  heldMicro: Micro;
  /** The lots that have not expired; the first to expire comes first. */
  lots: readonly PrepaidLot[];
}

export interface TopUpRequest {
  /** Idempotency id, as a {@link ReserveRequest}'s. The id of the payment is a good one. */
  id: string;
  account: string;
  /** At least 1: what was sold is not taken back. */
  amountMicro: Micro;
  /** Epoch milliseconds, later than the store's now. Default: never. An account has 100 different ones at the most. */
  expiresAt?: number | undefined;
  note?: string | undefined;
}
