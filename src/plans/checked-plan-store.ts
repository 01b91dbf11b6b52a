import { idProblem } from "../check/id-problem.js";
import { checkNewPlan } from "./plan-schema.js";
import type { WritablePlanStore } from "./plan-store.js";

/**
 * The store, to which nothing gets but valid plans. Who puts another learns of it by a TypeError that begins with `by`; who
 * looks for an id that no plan can have finds nothing.
 */
export function checkedPlanStore(by: string, store: WritablePlanStore): WritablePlanStore {
  return {
    ...store,
    find: async (id) => (idProblem(id) === undefined ? await store.find(id) : undefined),
    async put(plan) {
      checkNewPlan(by, plan);
      await store.put(plan);
    },
  };
}
