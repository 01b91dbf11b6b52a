import { idProblem } from "../check/id-problem.js";
import type { KeptRecord, RecordStore } from "../records/record-store.js";
import { allRecords, subscriptionTo } from "../records/use-records.js";
import { checkNewPlan } from "./plan-schema.js";
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
