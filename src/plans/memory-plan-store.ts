import { z } from "zod";
import { planSchema } from "./plan-schema.js";
import type { Plan, PlanStore } from "./plan-store.js";

/**
 * Plans from configuration, by id.
 * @throws TypeError when a plan is not valid; unknown members are refused, so that a typing error lifts no limit.
 */
export function memoryPlanStore(plans: Readonly<Record<string, Omit<Plan, "id">>>): PlanStore {
  if (typeof plans !== "object" || plans === null || Array.isArray(plans)) {
    throw new TypeError(
      'memoryPlanStore: pass an object of plans by their ids, such as { pro: { models: ["acme/*"] } }.',
    );
  }
  const byId = new Map<string, Plan>();
  for (const [id, plan] of Object.entries(plans)) {
    const checked = planSchema
      .extend({ id: z.literal(id).optional() })
      .strict()
      .safeParse(plan);
    if (!checked.success)
      throw new TypeError(`memoryPlanStore: the plan "${id}" is not valid.\n${z.prettifyError(checked.error)}`);
    byId.set(id, { ...plan, id });
  }
  return {
    find: (id) => byId.get(id),
    list: () => byId.values(),
  };
}
