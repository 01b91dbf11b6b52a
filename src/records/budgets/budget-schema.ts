import * as z from "zod";
import { explainIssue } from "../../check/check-input.js";
import { idProblem } from "../../check/id-problem.js";
import { ratesSchema } from "../../check/limit-schemas.js";
import { problemsOf } from "../../check/list-problems.js";
import { idText, isTagName, longestTag, suspensionMessage, tagName } from "../../check/text-schemas.js";
import { meantDimension, type Tags } from "../../prices/tags.js";
import { keyCredits, keyModels, storedKeyCredits } from "../keys/check-key.js";
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

const nameShape = { tag: tagName(meantDimension), value: idText(longestTag).nullish() };
const status = z.enum(["active", "suspended"]).nullish();

/** The name of a budget that a person writes. */
export const budgetNameSchema = z.strictObject(nameShape);

/** A budget that a person writes. A misspelled member is an error: as an unknown one it would lift a limit. */
export const newBudgetSchema = z
  .strictObject({
    ...nameShape,
    credits: keyCredits,
    rates: ratesSchema,
    models: keyModels,
    status,
    message: suspensionMessage,
  })
  .refine(({ status: given, message }) => message == null || given === "suspended", {
    path: ["message"],
    error: 'is for suspended budgets: give `status: "suspended"` with it',
  });

/** The budgets of a plan that a person writes. */
export const newBudgetsSchema = z
  .array(newBudgetSchema, { error: 'must be a list of budgets, such as [{ tag: "member", credits: { month: 50 } }]' })
  .max(100, "must be at most 100")
  .superRefine((budgets, context) => {
    const seen = new Set<string>();
    for (const [index, budget] of budgets.entries()) {
      const field = budgetField(budget);
      if (seen.has(field)) context.addIssue({ code: "custom", path: [index], message: "has the name of another one" });
      seen.add(field);
    }
  });

const recordSchema = z.object({
  ...nameShape,
  credits: storedKeyCredits,
  rates: ratesSchema,
  models: z.array(z.string(), { error: "must be a list of model ids" }).nullish(),
  status,
  // Clients read it: a longer one of the host's own store is better than none.
  message: z.string().nullish(),
});

/** The budgets of a plan that a store returns. */
export const storedBudgetsSchema = z.array(recordSchema);

/** Budgets that a store returns, checked. */
export type CheckedBudget = z.output<typeof recordSchema>;

/**
 * Checks the budgets that a store returns. Ignores further columns.
 * @throws TypeError that says what is wrong with them.
 */
export function checkBudgets(records: unknown): CheckedBudget[] {
  const result = storedBudgetsSchema.safeParse(records, { error: explainIssue("member") });
  if (!result.success) throw new TypeError(problemsOf(result.error).join("; "));
  return result.data;
}

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
