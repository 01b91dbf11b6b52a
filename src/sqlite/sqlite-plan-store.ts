import { requireKnownOptions } from "../check/known-options.js";
import { checkedPlanStore } from "../plans/checked-plan-store.js";
import type { Plan, WritablePlanStore } from "../plans/plan-store.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";

/**
 * Plans in a SQLite database.
 *
 * @throws RangeError when `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqlitePlanStore(options: SqliteOptions): WritablePlanStore {
  requireKnownOptions("sqlitePlanStore", options, knownSqliteOptions);
  return planStoreOf(new SqliteConnection(options));
}

interface PlanRow {
  id: string;
  plan: string;
}

export function planStoreOf(connection: SqliteConnection): WritablePlanStore {
  const find = connection.prepare("SELECT id, plan FROM infergate_plan WHERE id = ?");
  const put = connection.prepare("REPLACE INTO infergate_plan VALUES (?, ?)");
  const all = connection.prepare("SELECT id, plan FROM infergate_plan");
  const remove = connection.prepare("DELETE FROM infergate_plan WHERE id = ? RETURNING id");
  const toPlan = ({ id, plan }: PlanRow): Plan => ({ ...(JSON.parse(plan) as Omit<Plan, "id">), id });
  return checkedPlanStore("sqlitePlanStore", {
    async find(id) {
      const found = await connection.read(() => find.get(id));
      const row = found as PlanRow | null | undefined;
      return row ? toPlan(row) : undefined;
    },
    async listAll() {
      return ((await connection.read(() => all.all())) as PlanRow[]).map(toPlan);
    },
    async delete(id) {
      return (await connection.write(() => remove.all(id))).length > 0;
    },
    async put({ id, ...plan }) {
      await connection.write(() => put.run(id, JSON.stringify(plan)));
    },
  });
}
