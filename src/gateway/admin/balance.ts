import type { BudgetOrigin } from "../../access/budgets/tag-budget.js";
import { ownCounters } from "../../access/counter-name.js";
import { KeyCaps } from "../../access/key-caps.js";
import { Calendar, type Clock, windowLimits } from "../../ledger/calendar.js";
import type { CreditLedger, WindowName, WindowState, WindowStates } from "../../ledger/credit-ledger.js";
import type { CapState, PrepaidState, RateState } from "../../ledger/limits.js";
import { remaining } from "../../ledger/window-states.js";
import type { Micro } from "../../prices/micro.js";
import type { BudgetStatus } from "../../records/budgets/budget-store.js";
import type { StoredKey } from "../../records/keys/key-store.js";
import type { AccountTermsLookup } from "./account-terms.js";
import { fromLedger } from "./from-store.js";

/** One window of an account. Amounts are micro-credits, instants epoch milliseconds. */
export interface AccountWindow extends WindowState {
  /** `limitMicro` + `bonusMicro` − `usedMicro`, never below 0; `null`: unlimited. */
  remainingMicro: Micro | null;
}

/** The credits of an account under its plan. */
export interface AccountBalance {
  account: string;
  plan: string;
  windows: Readonly<Record<WindowName, AccountWindow>>;
  /** The prepaid credits, in micro-credits. Absent where it has never had any. */
  prepaid?: PrepaidState;
}

export function toAccountWindows({ session, week, month }: WindowStates): AccountBalance["windows"] {
  return { session: withRest(session), week: withRest(week), month: withRest(month) };
}

function withRest(state: WindowState): AccountWindow {
  return { ...state, remainingMicro: remaining(state) };
}

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

/** What a key may cost, and what it has cost. */
export interface KeyBalance {
  /** Id of the key. */
  key: string;
  account: string;
  /** One for each of the key's `credits`. Empty: it has no caps of its own. */
  caps: readonly CapBalance[];
}

/** What the balances of keys are read with. */
export interface KeyBalanceServices {
  readonly ledger: CreditLedger;
  readonly terms: AccountTermsLookup;
  readonly clock: Clock;
}

/** Of this instant, as calls with the key count it. */
export async function keyBalance(
  by: string,
  { id, account, lineage, credits, anchor }: StoredKey,
  { ledger, terms, clock }: KeyBalanceServices,
): Promise<KeyBalance> {
  const caps = KeyCaps.of(ownCounters("key", lineage ?? id), credits);
  if (caps === undefined) return { key: id, account, caps: [] };
  const now = clock.now();
  const owner = (await terms.ofRecord(account)) ?? { anchor };
  const begin = owner.anchor ?? undefined;
  // The windows are not asked for.
  const unlimited = { session: null, week: null, month: null };
  const windows = windowLimits({ credits: unlimited, sessionMs: 1, anchor: begin, now });
  const limits = caps.limits(new Calendar(begin), now);
  const states = await fromLedger(by, () => ledger.balance(account, windows, { caps: limits }));
  return { key: id, account, caps: states.caps?.map(toCapBalance) ?? [] };
}
