import type { Tags } from "../metering/tags.js";
import { budgetField } from "./budget-field.js";
import type { BudgetName } from "./budget-store.js";

/** The fields of all budgets that calls with these tags may have. See {@link budgetField}. */
export function fieldsOf(tags: Tags): string[] {
  return Object.entries(tags).flatMap(([tag, value]) => [budgetField({ tag, value }), budgetField({ tag })]);
}

/**
 * The budget of each tag: of its value, or else of each value. A whole budget takes the place of another one: nothing of
 * the two is put together.
 */
export function pickBudgets<Found extends BudgetName>(tags: Tags, found: readonly Found[]): Found[] {
  if (found.length === 0) return [];
  const byField = new Map(found.map((budget) => [budgetField(budget), budget]));
  return Object.entries(tags).flatMap(([tag, value]) => {
    const picked = byField.get(budgetField({ tag, value })) ?? byField.get(budgetField({ tag }));
    return picked === undefined ? [] : [picked];
  });
}
