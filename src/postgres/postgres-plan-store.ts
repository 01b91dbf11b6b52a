import { requireKnownOptions } from "../check/known-options.js";
import { checkedPlanStore } from "../plans/checked-plan-store.js";
import type { Plan, WritablePlanStore } from "../plans/plan-store.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "./database.js";
import { Notifications } from "./listen/notifications.js";

/**
 * Plans in PostgreSQL. `subscribe` needs `pool.connect` or `pool.listen`: it listens on one connection of its own, which
 * is opened again when it breaks; what changes meanwhile goes unheard.
 *
 * @throws TypeError when an option is not valid, and rejects with one when a plan to `put` is not: unknown members are
 * refused, so that a typing error lifts no limit.
 */
export function postgresPlanStore(options: PostgresOptions): WritablePlanStore {
  requireKnownOptions("postgresPlanStore", options, knownPostgresOptions);
  const database = new Database(options);
  return planStore(database, new Notifications(database));
}

export function planStore(database: Database, notifications: Notifications): WritablePlanStore {
  const store = checkedPlanStore("postgresPlanStore", {
    async find(id) {
      const [plan] = await database.query<Plan>("select plan::text as json from infergate.plan where id = $1", [id]);
      return plan;
    },
    listAll: () => database.query<Plan>("select plan::text as json from infergate.plan", []),
    async delete(id) {
      const sql = "delete from infergate.plan where id = $1 returning plan::text as json";
      return (await database.query<Plan>(sql, [id])).length > 0;
    },
    async put(plan) {
      const sql = /* sql */ `
        insert into infergate.plan (id, plan) values ($1, $2::text::jsonb)
        on conflict (id) do update set plan = excluded.plan`;
      await database.query(sql, [plan.id, JSON.stringify(plan)]);
    },
  });
  if (!notifications.isEnabled) return store;
  return {
    ...store,
    subscribe: (onChange) => notifications.subscribe(`${database.schema}_plan`, onChange),
  };
}
