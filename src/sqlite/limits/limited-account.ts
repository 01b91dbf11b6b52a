import type { AccountLimits } from "../../ledger/limits/account-limits.js";

/** An account with what has been read of its limits. */
export interface LimitedAccount {
  readonly id: string;
  /** Prepaid credits, and the caps and buckets that the operation needs. `undefined`: it has and needs none. */
  limits: AccountLimits | undefined;
}
