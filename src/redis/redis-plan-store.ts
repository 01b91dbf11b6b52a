import { requireKnownOptions } from "../check/known-options.js";
import { checkedPlanStore } from "../plans/checked-plan-store.js";
import type { Plan, WritablePlanStore } from "../plans/plan-store.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "./redis-options.js";
import { makeScript } from "./script.js";
import { deletePlan, findPlan, listPlans, putPlan } from "./store-scripts/plans.js";

const scripts = {
  find: makeScript(findPlan),
  list: makeScript(listPlans),
  put: makeScript(putPlan),
  delete: makeScript(deletePlan),
};

/**
 * Plans in Redis, by id.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisPlanStore(options: RedisOptions): WritablePlanStore {
  requireKnownOptions("redisPlanStore", options, knownRedisOptions);
  return planStoreOn(connectionOf(options));
}

/** The same on a connection that is shared with other stores. */
export function planStoreOn({ run, prefix, changes }: RedisConnection): WritablePlanStore {
  const plans = `${prefix}:{plans}`;
  return checkedPlanStore("redisPlanStore", {
    async find(id) {
      const json = await run(scripts.find, [plans], [id]);
      return json === null || json === undefined ? undefined : (JSON.parse(String(json)) as Plan);
    },

    async listAll() {
      const found = (await run(scripts.list, [plans], [])) as unknown[];
      return found.map((json) => JSON.parse(String(json)) as Plan);
    },

    async delete(id) {
      return Number(await run(scripts.delete, [plans], [id, changes.channel])) === 1;
    },

    async put(plan) {
      await run(scripts.put, [plans], [plan.id, JSON.stringify(plan), changes.channel]);
    },

    ...(changes.canSubscribe && { subscribe: (onChange) => changes.subscribe("plan", onChange) }),
  });
}
