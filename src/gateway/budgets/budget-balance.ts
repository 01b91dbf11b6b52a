import type { BudgetOrigin } from "../../access/budgets/tag-budget.js";
import type { BudgetStatus } from "../../budgets/budget-store.js";
import type { CapState } from "../../ledger/cap-limit.js";
import type { RateState } from "../../ledger/rate-limit.js";
import type { Micro } from "../../metering/micro.js";

/** A cap, as it is used. Amounts are micro-credits, instants epoch milliseconds. */
export interface CapBalance extends CapState {
  /** `limitMicro` − `usedMicro`, never below 0. */
  remainingMicro: Micro;
}

/** A rate limit, as it is used. */
export interface RateBalance extends RateState {
  /** The model or pattern that it is for. Absent: all models. */
  models?: string;
}

/** What the budget of a tag's value allows, and what is used of it. */
export interface BudgetBalance {
  account: string;
  /** The account's plan, which may have budgets, too. */
  plan: string;
  tag: string;
  value: string;
  /**
   * Where its limits come from, all of them: `own`, the account's budget of this value; `account`, its budget of each value;
   * `plan`, a budget of the plan; `null`: there is none, and nothing limits the value.
   */
  origin: BudgetOrigin | null;
  status: BudgetStatus;
  /** What clients of a suspended one read, where it is not the usual sentence. */
  message?: string;
  /** The models that it is restricted to, within the plan. `null`: all of the plan. */
  models: readonly string[] | null;
  caps: readonly CapBalance[];
  /** 32 at the most. */
  rates: readonly RateBalance[];
}

export function toCapBalance(state: CapState): CapBalance {
  return { ...state, remainingMicro: Math.max(0, state.limitMicro - state.usedMicro) };
}
