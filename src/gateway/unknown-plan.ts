import type { Warn } from "../events/warning.js";
import type { TimeLimit } from "../guard/time-limit.js";
import type { PlanStore } from "../plans/plan-store.js";

/** Warns of keys and accounts whose plan does not exist. Never rejects: the plan may be made later, and its store may be away. */
export type WarnOfUnknownPlan = (by: string, plan: string) => Promise<void>;

const mostNamed = 20;

export function unknownPlanWarning(plans: PlanStore, limit: TimeLimit, warn: Warn): WarnOfUnknownPlan {
  return async (by, plan) => {
    try {
      // Not through the cache, which would remember that there is no plan.
      const found = await limit.race(Promise.resolve(plans.find(plan)));
      if (found !== undefined && found !== null) return;
      const message = `${by}: there is no plan ${JSON.stringify(plan)}, so its callers see no model until it is made.`;
      warn({ code: "unknown_plan", message: message + thoseThereAre(plans) });
    } catch {
      // The store failed, so nothing is known of the plan.
    }
  };
}

function thoseThereAre(plans: PlanStore): string {
  const ids = [...(plans.list?.() ?? [])].map(({ id }) => JSON.stringify(id));
  if (ids.length === 0) return "";
  const others = ids.length > mostNamed ? `, and ${ids.length - mostNamed} others` : "";
  return ` There are: ${ids.slice(0, mostNamed).join(", ")}${others}.`;
}
