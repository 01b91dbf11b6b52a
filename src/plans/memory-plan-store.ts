import { z } from "zod";
import { explainIssue } from "../openai/explain-issue.js";
import { listProblems, problemsOf } from "../openai/list-problems.js";
import { checkNewPlan, planSchema } from "./plan-schema.js";
import type { Plan, WritablePlanStore } from "./plan-store.js";

/**
 * Plans in memory, by id: those of the configuration, and those that are put, which are gone when the process ends.
 * @throws TypeError when a plan is not valid; unknown members are refused, so that a typing error lifts no limit.
 */
export function memoryPlanStore(plans: Readonly<Record<string, Omit<Plan, "id">>> = {}): WritablePlanStore {
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
      .safeParse(plan, { error: explainIssue("member") });
    if (!checked.success) {
      throw new TypeError(listProblems(`memoryPlanStore: the plan "${id}" is not valid`, problemsOf(checked.error)));
    }
    byId.set(id, structuredClone({ ...plan, id }));
  }
  const listeners = new Set<{ tell: (id: string) => void }>();
  return {
    find: async (id) => structuredClone(byId.get(id)),
    list: () => structuredClone([...byId.values()]),
    async put(plan) {
      checkNewPlan("memoryPlanStore", plan);
      byId.set(plan.id, structuredClone(plan));
      for (const listener of listeners) {
        try {
          listener.tell(plan.id);
        } catch {
          // A listener's own affair: the others are told all the same.
        }
      }
    },
    subscribe(onChange) {
      const listener = { tell: onChange };
      listeners.add(listener);
      return async () => {
        listeners.delete(listener);
      };
    },
  };
}
