import * as z from "zod";
import { explainOnce, InputError } from "../../check/check-input.js";
import { idProblem } from "../../check/id-problem.js";
import { creditLimit, credits, ownKeyPriceFactor, priceFactor, ratesSchema } from "../../check/limit-schemas.js";
import { listProblems, problemsOf } from "../../check/list-problems.js";
import { idText } from "../../check/text-schemas.js";
import { newBudgetsSchema, storedBudgetsSchema } from "../budgets/budget-schema.js";
import type { KeptRecord, RecordStore } from "../record-store.js";
import { allRecords, subscriptionTo } from "../use-records.js";
import type { Plan, WritablePlanStore } from "./plan-store.js";

/**
 * Plans among these records, by their ids: only valid ones are written. To put another plan throws a TypeError that begins
 * with `by`. To look for an id that no plan can have, or to delete it, finds nothing.
 */
export function recordPlanStore(by: string, records: RecordStore): WritablePlanStore {
  return {
    ...subscriptionTo(records, "plan"),
    async find(id) {
      const [record] = idProblem(id) === undefined ? await records.get("plan", "id", [id]) : [];
      return record && toPlan(record);
    },
    listAll: async () => (await allRecords(records, "plan")).map(toPlan),
    delete: async (id) => idProblem(id) === undefined && (await records.remove("plan", id)),
    async put(plan) {
      checkNewPlan(by, plan);
      await records.put("plan", { id: plan.id, owner: "", alias: null, text: JSON.stringify(plan) });
    },
  };
}

function toPlan({ text }: KeptRecord): Plan {
  return JSON.parse(text);
}

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
  ownKeyPriceFactor,
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
