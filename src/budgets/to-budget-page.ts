import { budgetField } from "./budget-field.js";
import type { BudgetPage, KeptBudget } from "./budget-store.js";

/**
 * A page of what a store has read in the order of the fields. The cursor is the field of the page's last budget.
 * @param found - one more than `limit`, where there are as many.
 */
export function toBudgetPage(found: readonly KeptBudget[], limit: number): BudgetPage {
  const budgets = found.slice(0, limit);
  const last = budgets.at(-1);
  return found.length > limit && last !== undefined ? { budgets, cursor: budgetField(last) } : { budgets };
}
