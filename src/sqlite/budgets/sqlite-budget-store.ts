import type { KeptBudget, WritableBudgetStore } from "../../budgets/budget-store.js";
import { checkedBudgetStore } from "../../budgets/checked-budget-store.js";
import { toBudgetPage } from "../../budgets/to-budget-page.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "../sqlite-connection.js";

/**
 * Budgets in a SQLite database.
 *
 * @throws RangeError when `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteBudgetStore(options: SqliteOptions): WritableBudgetStore {
  requireKnownOptions("sqliteBudgetStore", options, knownSqliteOptions);
  return budgetStoreOf(new SqliteConnection(options));
}

export function budgetStoreOf(connection: SqliteConnection): WritableBudgetStore {
  const select = "SELECT budget FROM infergate_budget WHERE account = ? AND";
  const some = connection.prepare(`${select} field IN (SELECT value FROM json_each(?))`);
  const after = connection.prepare(`${select} field > ? ORDER BY field LIMIT ?`);
  const put = connection.prepare("REPLACE INTO infergate_budget (account, field, budget) VALUES (?, ?, ?)");
  const remove = connection.prepare("DELETE FROM infergate_budget WHERE account = ? AND field = ? RETURNING field");
  const forget = connection.prepare("DELETE FROM infergate_budget WHERE account = ?");
  const toBudgets = (rows: unknown[]) => rows.map((row) => JSON.parse((row as Row).budget) as KeptBudget);

  return checkedBudgetStore("sqliteBudgetStore", {
    read: async (account, fields) => toBudgets(await connection.read(() => some.all(account, JSON.stringify(fields)))),
    async put(account, field, budget) {
      await connection.write(() => put.run(account, field, JSON.stringify(budget)));
    },
    remove: async (account, field) => (await connection.write(() => remove.all(account, field))).length > 0,
    async list(account, { cursor = "", limit }) {
      return toBudgetPage(toBudgets(await connection.read(() => after.all(account, cursor, limit + 1))), limit);
    },
    async forget(account) {
      await connection.write(() => forget.run(account));
    },
  });
}

interface Row {
  budget: string;
}
