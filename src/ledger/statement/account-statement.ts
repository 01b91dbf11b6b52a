import type { Micro } from "../../metering/micro.js";

/** Which time a statement is about. */
export interface StatementRequest {
  account: string;
  /** Epoch milliseconds, inclusive. Default: the beginning of what is kept. */
  from?: number | undefined;
  /** Epoch milliseconds, exclusive. Default: now, and what is of this very millisecond with it. */
  to?: number | undefined;
}

/** Prepaid credits over a time: `opening + bought − used − expired − taken back = closing`, to the micro-credit. */
export interface PrepaidStatement {
  /** The balance at the beginning; negative where the account was in debt. */
  readonly openingMicro: Micro;
  /** Top-ups. */
  readonly boughtMicro: Micro;
  /** What they paid for calls and holds, less what they got back of that. */
  readonly usedMicro: Micro;
  /** What ended unused, at the moment at which it ended. */
  readonly expiredMicro: Micro;
  /** Deductions. */
  readonly takenBackMicro: Micro;
  /** The balance at the end. It is that of `balance` where the time reaches up to now. */
  readonly closingMicro: Micro;
}

/** What became of the plan's credits over a time. They begin anew with each window, so they have no balance. */
export interface PlanStatement {
  /** What they paid for calls and holds, less what they got back of that. */
  readonly usedMicro: Micro;
  /** What grants added to the limits of windows, less corrections. */
  readonly grantedMicro: Micro;
}

/** What became of an account's credits in a time. */
export interface AccountStatement {
  /**
   * Epoch milliseconds, inclusive: what was asked for, or later, where the journal does not go back as far. `null`: from
   * the account's beginning.
   */
  readonly from: number | null;
  /** Epoch milliseconds, exclusive: what was asked for, but not after now. */
  readonly to: number;
  readonly prepaid: PrepaidStatement;
  readonly plan: PlanStatement;
}
