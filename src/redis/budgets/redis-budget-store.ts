import type { KeptBudget, WritableBudgetStore } from "../../budgets/budget-store.js";
import { checkedBudgetStore } from "../../budgets/checked-budget-store.js";
import { toBudgetPage } from "../../budgets/to-budget-page.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { AccountKeys } from "../account-keys.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "../redis-options.js";
import { makeScript } from "../script.js";
import { forgetBudgets, listBudgets, putBudget, readBudgets, removeBudget } from "../store-scripts/budgets.js";

const scripts = {
  read: makeScript(readBudgets),
  put: makeScript(putBudget),
  remove: makeScript(removeBudget),
  list: makeScript(listBudgets),
  forget: makeScript(forgetBudgets),
};

/**
 * Budgets in Redis, by account. They do not expire there.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisBudgetStore(options: RedisOptions): WritableBudgetStore {
  requireKnownOptions("redisBudgetStore", options, knownRedisOptions);
  return budgetStoreOn(connectionOf(options));
}

/** The same on a connection that is shared with other stores. */
export function budgetStoreOn({ run, prefix, changes }: RedisConnection): WritableBudgetStore {
  const keys = new AccountKeys(prefix);
  const toBudgets = (reply: unknown) =>
    (reply as readonly unknown[]).flatMap((json) => (json == null ? [] : [JSON.parse(String(json)) as KeptBudget]));

  return checkedBudgetStore("redisBudgetStore", {
    read: async (account, fields) => toBudgets(await run(scripts.read, keys.ofBudgets(account), fields)),
    async put(account, field, budget) {
      const args = [account, changes.channel, field, JSON.stringify(budget)];
      await run(scripts.put, keys.ofBudgets(account), args);
    },
    async remove(account, field) {
      return Number(await run(scripts.remove, keys.ofBudgets(account), [account, changes.channel, field])) === 1;
    },
    async list(account, { cursor, limit }) {
      const after = cursor === undefined ? "-" : `(${cursor}`;
      return toBudgetPage(toBudgets(await run(scripts.list, keys.ofBudgets(account), [after, limit + 1])), limit);
    },
    async forget(account) {
      await run(scripts.forget, keys.ofBudgets(account), [account, changes.channel]);
    },
    ...(changes.canSubscribe && { subscribe: (onChange) => changes.subscribe("budget", onChange) }),
  });
}
