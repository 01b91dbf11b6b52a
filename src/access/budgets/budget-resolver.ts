import { budgetSuspended } from "../../errors/gateway-error.js";
import { repeatedFor } from "../../errors/repeated-error.js";
import type { Tags } from "../../prices/tags.js";
import type { Allowance } from "../allowance.js";
import type { Lookup } from "../cached-lookup.js";
import type { Caller } from "../caller.js";
import { KeyCaps } from "../key-caps.js";
import type { BudgetLookup } from "./budget-lookup.js";
import type { CallerBudgets } from "./caller-budgets.js";

/**
 * Gives a caller the budgets of these tags.
 * @param caller - has none yet.
 * @returns at once where they are cached, and the same caller where there are none.
 * @throws GatewayError 403 for a suspended budget; 503 when a store fails. Where a promise is returned, it rejects with them.
 */
export type ApplyBudgets = (caller: Caller, tags: Tags) => Caller | Promise<Caller>;

export function budgetResolver(lookup: BudgetLookup, findAllowance: Lookup<Allowance>): ApplyBudgets {
  const suspended = repeatedFor(budgetSuspended);
  /** What was made of a caller with each of its budgets, so that more can be kept of it. */
  const made = new WeakMap<Caller, WeakMap<CallerBudgets, Caller>>();
  /** @throws GatewayError 403 */
  const withBudgets = (caller: Caller, budgets: CallerBudgets | undefined): Caller => {
    if (budgets === undefined) return caller;
    for (const { suspension } of budgets.each) if (suspension !== undefined) throw suspended(suspension);
    // Without a key, a caller is made anew for each request.
    if (caller.source !== "key") return toBudgeted(caller, budgets);
    const ofCaller = made.get(caller) ?? new WeakMap<CallerBudgets, Caller>();
    made.set(caller, ofCaller);
    const last = ofCaller.get(budgets);
    if (last !== undefined) return last;
    const budgeted = toBudgeted(caller, budgets);
    ofCaller.set(budgets, budgeted);
    return budgeted;
  };
  const under = (caller: Caller, tags: Tags, allowance: Allowance | undefined): Caller | Promise<Caller> => {
    const ofPlan = allowance?.budgets;
    if (!lookup.hasStore && ofPlan === undefined) return caller;
    const known = lookup.find(caller.account, tags);
    return known instanceof Promise
      ? known.then((found) => withBudgets(caller, found.under(ofPlan)))
      : withBudgets(caller, known.under(ofPlan));
  };
  return (caller, tags) => {
    const allowance = findAllowance(caller.plan);
    return allowance instanceof Promise
      ? allowance.then((found) => under(caller, tags, found))
      : under(caller, tags, allowance);
  };
}

function toBudgeted(caller: Caller, budgets: CallerBudgets): Caller {
  return { ...caller, budgets, unbudgeted: caller, caps: KeyCaps.together([caller.caps, budgets.caps]) };
}
