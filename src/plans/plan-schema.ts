import * as z from "zod";
import { newBudgetsSchema, storedBudgetsSchema } from "../budgets/budget-schema.js";
import { creditLimit, credits } from "../check/credit-limit.js";
import { explainOnce } from "../check/explain-issue.js";
import { idText } from "../check/id-text.js";
import { InputError } from "../check/input-error.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { priceFactor } from "../check/price-factor.js";
import { ratesSchema } from "../check/rates-schema.js";
import type { Plan } from "./plan-store.js";

// The longest that setTimeout can do.
const milliseconds = z.number().int().positive().max(2_147_483_647);

export const disconnectSchema = z.union(
  [
    z.enum(["cancel", "drain"]),
    z.strictObject({ maxMs: milliseconds.optional(), maxTokens: z.number().int().positive().optional() }),
  ],
  { error: 'must be "cancel", "drain" or { maxMs, maxTokens }' },
);

function planCredits(limit: typeof creditLimit) {
  return z.strictObject({ session: limit, week: limit, month: limit }).nullish();
}

/**
 * Checks a plan record. Stores may keep further columns with it; a misspelled window, though, would be an unlimited
 * one, so `credits` takes no unknown member.
 */
const planSchema = z.object({
  id: z.string().optional(),
  models: z.array(z.string().min(1)).readonly(),
  credits: planCredits(credits.nullish()),
  sessionMs: z.number().int().min(60_000).nullish(),
  defaultOutputTokens: z.number().int().positive().nullish(),
  disconnect: disconnectSchema.nullish(),
  rates: ratesSchema,
  priceFactor,
  budgets: storedBudgetsSchema.nullish(),
});

/**
 * A plan that a person writes. A misspelled member is an error: as an unknown one it would lift a limit. So are credits
 * that are too large to count.
 */
export const newPlanSchema = planSchema
  .extend({
    id: idText(),
    models: z.array(idText()).readonly(),
    credits: planCredits(creditLimit),
    budgets: newBudgetsSchema.nullish(),
  })
  .strict();

/**
 * Checks a plan that a store returns.
 * @throws TypeError that says what is wrong with the record.
 */
export function checkPlan(record: unknown): z.output<typeof planSchema> {
  const result = planSchema.safeParse(record, explainOnce("member"));
  if (!result.success) throw new TypeError(problemsOf(result.error).join("; "));
  return result.data;
}

/**
 * Checks a new plan.
 * @throws TypeError that begins with `by` and says what is wrong.
 */
export function checkNewPlan(by: string, plan: Plan): void {
  const result = newPlanSchema.safeParse(plan, explainOnce("member"));
  if (!result.success) throw new InputError(listProblems(`${by}: the plan is not valid`, problemsOf(result.error)));
}
