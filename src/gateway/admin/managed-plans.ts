import { toAllowance } from "../../access/allowance.js";
import type { Catalog } from "../../access/catalog.js";
import type { Warn } from "../../events/warning.js";
import { checkNewPlan } from "../../plans/plan-schema.js";
import type { Plan, PlanStore, WritablePlanStore } from "../../plans/plan-store.js";
import { requireMethods } from "./require-methods.js";

/** Creates and changes plans. */
export interface ManagedPlans {
  /**
   * Creates the plan, or replaces the whole plan of the same id. It takes effect at once in this process. Other
   * processes get it at once where the store sends notices (Redis, PostgreSQL), else within `cacheTtlMs`. The used
   * credits of accounts stay used.
   *
   * @throws TypeError when the plan is not valid, or the plan store cannot write; and what the store throws.
   */
  put(plan: Plan): Promise<void>;
}

export function managedPlans(
  plans: PlanStore,
  findAllowance: { forget(id: string): void },
  catalog: Catalog,
  warn: Warn,
): ManagedPlans {
  return {
    async put(plan) {
      const by = "gateway.plans.put";
      checkNewPlan(by, plan);
      toAllowance(plan.id, plan, catalog, warn);
      const store = requireMethods<WritablePlanStore>(by, "plan", plans, ["put"]);
      try {
        await store.put(plan);
      } finally {
        // Also after a failure: the store may have saved the plan.
        findAllowance.forget(plan.id);
      }
    },
  };
}
