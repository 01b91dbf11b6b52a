import * as z from "zod";
import { explainIssue } from "../check/explain-issue.js";
import { idText } from "../check/id-text.js";
import { problemsOf } from "../check/list-problems.js";
import { ratesSchema } from "../check/rates-schema.js";
import { suspensionMessage } from "../check/suspension-message.js";
import { longestTag, tagName } from "../check/tags-input.js";
import { keyCredits, keyModels, storedKeyCredits } from "../keys/check-key.js";
import { meantDimension } from "../metering/tags.js";
import { budgetField } from "./budget-field.js";

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
