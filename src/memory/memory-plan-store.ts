import * as z from "zod";
import { explainOnce } from "../check/explain-issue.js";
import { idProblem } from "../check/id-problem.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { newPlanSchema } from "../plans/plan-schema.js";
import type { Plan, WritablePlanStore } from "../plans/plan-store.js";
import { recordPlanStore } from "../plans/record-plan-store.js";
import { MemoryRecordStore } from "./memory-record-store.js";

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
  const records = new MemoryRecordStore();
  for (const [id, plan] of Object.entries(plans)) {
    const what = `memoryPlanStore: the plan ${JSON.stringify(id)} is not valid`;
    const problem = idProblem(id);
    if (problem !== undefined) throw new TypeError(listProblems(what, [`id: ${problem}`]));
    const checked = newPlanSchema.extend({ id: z.literal(id).optional() }).safeParse(plan, explainOnce("member"));
    if (!checked.success) throw new TypeError(listProblems(what, problemsOf(checked.error)));
    records.add("plan", { id, owner: "", alias: null, text: JSON.stringify({ ...plan, id }) });
  }
  return {
    ...recordPlanStore("memoryPlanStore", records),
    list: () => records.texts("plan").map((text): Plan => JSON.parse(text)),
  };
}
