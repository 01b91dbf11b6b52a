import { idProblem } from "../check/id-problem.js";
import { isTagName, longestTag } from "../check/tags-input.js";
import type { BudgetName } from "./budget-store.js";

/** The longest field: a tag's name, `=` and its value. */
export const longestField = 64 + 1 + longestTag;

/**
 * A budget's name as one text, unique within its account or plan: stores may file it under this. The name of a tag has no
 * `=`, and no value is empty.
 */
export function budgetField({ tag, value }: BudgetName): string {
  return `${tag}=${value ?? ""}`;
}

/** Whether there can be a budget of this name. */
export function isBudgetName({ tag, value }: BudgetName): boolean {
  return isTagName(tag) && ((value ?? undefined) === undefined || idProblem(value, longestTag) === undefined);
}
