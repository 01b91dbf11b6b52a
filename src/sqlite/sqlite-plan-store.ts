import { checkedPlanStore } from "../plans/checked-plan-store.js";
import type { Plan, WritablePlanStore } from "../plans/plan-store.js";
import { SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";

/**
 * Plans in a SQLite database.
 *
 * @throws RangeError when `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqlitePlanStore(options: SqliteOptions): WritablePlanStore {
  return planStoreOf(new SqliteConnection(options));
}

export function planStoreOf(connection: SqliteConnection): WritablePlanStore {
  const find = connection.prepare("SELECT plan FROM infergate_plan WHERE id = ?");
  const put = connection.prepare("REPLACE INTO infergate_plan VALUES (?, ?)");
  return checkedPlanStore("sqlitePlanStore", {
    async find(id) {
      const found = await connection.read(() => find.get(id));
      const row = found as { plan: string } | null | undefined;
      return row ? { ...(JSON.parse(row.plan) as Omit<Plan, "id">), id } : undefined;
    },
    async put({ id, ...plan }) {
      await connection.write(() => put.run(id, JSON.stringify(plan)));
    },
  });
}
