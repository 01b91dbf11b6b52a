import { idProblem } from "../check/id-problem.js";
import { checkNewPlan } from "./plan-schema.js";
import type { WritablePlanStore } from "./plan-store.js";

/**
 * The store behind a check: only valid plans reach it. To put another plan throws a TypeError that begins with `by`. To
 * look for an id that no plan can have, or to delete it, finds nothing.
 */
export function checkedPlanStore(by: string, store: WritablePlanStore): WritablePlanStore {
  return {
    ...store,
    find: async (id) => (idProblem(id) === undefined ? await store.find(id) : undefined),
    delete: async (id) => idProblem(id) === undefined && (await store.delete(id)),
    async put(plan) {
      checkNewPlan(by, plan);
      await store.put(plan);
    },
  };
}
