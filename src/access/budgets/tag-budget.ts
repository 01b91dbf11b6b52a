import type { CheckedBudget } from "../../records/budgets/budget-schema.js";
import { ownCounters } from "../counter-name.js";
import { KeyCaps } from "../key-caps.js";
import { ModelPatterns } from "../model-patterns.js";
import { RateRules } from "../rate-rules.js";

/** Where a budget is from: the account's own of the value, the account's of each value, or one of the plan. */
export type BudgetOrigin = "own" | "account" | "plan";

/** The budget of one value of a tag, compiled. */
export interface TagBudget {
  readonly tag: string;
  readonly value: string;
  readonly origin: BudgetOrigin;
  /** Begins the ids of its counters, with a slash behind it. They stay the same, whichever budget the value has. */
  readonly counters: string;
  readonly caps: KeyCaps | undefined;
  readonly rates: RateRules | undefined;
  /** The models that its calls are restricted to; `undefined`: the plan alone decides. */
  readonly models: ModelPatterns | undefined;
  /** What clients read while it is suspended, `null` for the usual sentence; `undefined`: it is active. */
  readonly suspension: string | null | undefined;
}

/** Begins the ids of all budgets' counters. */
export const budgetPrefix = "budget/";

/** The counters of a tag's value. Within an account, they are nobody else's. */
export function budgetCounters(tag: string, value: string): string {
  return ownCounters("budget", `${tag}=${value}`);
}

export function toTagBudget(budget: CheckedBudget, value: string, origin: BudgetOrigin): TagBudget {
  const { tag, credits, rates, models, status, message } = budget;
  const counters = budgetCounters(tag, value);
  return {
    ...{ tag, value, origin, counters },
    caps: KeyCaps.of(counters, credits),
    rates: RateRules.of({ owner: "budget", counters, tag }, rates),
    models: models === undefined || models === null ? undefined : new ModelPatterns(models),
    suspension: status === "suspended" ? (message ?? null) : undefined,
  };
}
