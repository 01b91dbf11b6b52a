import type { KeptBudget, WritableBudgetStore } from "../../budgets/budget-store.js";
import { checkedBudgetStore } from "../../budgets/checked-budget-store.js";
import { toBudgetPage } from "../../budgets/to-budget-page.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "../database.js";
import { Notifications } from "../listen/notifications.js";

/** Each field by itself, so that it is looked up in the index, whatever the planner takes the number of budgets to be. */
const readSql = /* sql */ `
select found.budget::text as json
from jsonb_array_elements_text($2::text::jsonb) as sought
cross join lateral (select budget from infergate.budget where account = $1 and field = sought offset 0) as found`;

const putSql = /* sql */ `
insert into infergate.budget (account, field, budget) values ($1, $2, $3::text::jsonb)
on conflict (account, field) do update set budget = excluded.budget`;

const removeSql = /* sql */ `
delete from infergate.budget where account = $1 and field = $2 returning to_json(true)::text as json`;

const listSql = /* sql */ `
select budget::text as json from infergate.budget where account = $1 and field > $2 order by field limit $3`;

/**
 * Budgets in PostgreSQL. `subscribe` needs `pool.connect` or `pool.listen`: it listens on one connection of its own,
 * which is opened again when it breaks; what changes meanwhile goes unheard.
 *
 * @throws TypeError when an option is not valid.
 */
export function postgresBudgetStore(options: PostgresOptions): WritableBudgetStore {
  requireKnownOptions("postgresBudgetStore", options, knownPostgresOptions);
  const database = new Database(options);
  return budgetStore(database, new Notifications(database));
}

export function budgetStore(database: Database, notifications: Notifications): WritableBudgetStore {
  const store = checkedBudgetStore("postgresBudgetStore", {
    read: (account, fields) => database.query<KeptBudget>(readSql, [account, JSON.stringify(fields)]),
    async put(account, field, budget) {
      await database.query(putSql, [account, field, JSON.stringify(budget)]);
    },
    remove: async (account, field) => (await database.query(removeSql, [account, field])).length > 0,
    async list(account, { cursor = "", limit }) {
      return toBudgetPage(await database.query<KeptBudget>(listSql, [account, cursor, limit + 1]), limit);
    },
    async forget(account) {
      await database.query("delete from infergate.budget where account = $1", [account]);
    },
  });
  if (!notifications.isEnabled) return store;
  return {
    ...store,
    subscribe: (onChange) => notifications.subscribe(`${database.schema}_budget`, onChange),
  };
}
