import * as z from "zod";
import { checkInput } from "../check/check-input.js";
import { idProblem } from "../check/id-problem.js";
import { idText } from "../check/id-text.js";
import { withoutNulls } from "../check/without-nulls.js";
import { keyAccount } from "../keys/check-key.js";
import { budgetField, isBudgetName, longestField } from "./budget-field.js";
import { newBudgetSchema } from "./budget-schema.js";
import type { BudgetPage, KeptBudget, WritableBudgetStore } from "./budget-store.js";
import { fieldsOf, pickBudgets } from "./pick-budgets.js";

const longestAccount = 128;

const pageSchema = z.strictObject({
  cursor: idText(longestField).optional(),
  limit: z.number().int().min(1).max(1000).default(100),
});
const putSchema = z.object({ account: keyAccount, budget: newBudgetSchema });

/**
 * A store that leaves the checks to {@link checkedBudgetStore}. A budget is filed under its account and its field, a text
 * of at most 321 characters; see {@link budgetField}.
 */
export interface UncheckedBudgetStore extends Pick<WritableBudgetStore, "forget" | "subscribe"> {
  /** Those of these fields that there are, in any order. @param fields - at least one. */
  read(account: string, fields: readonly string[]): Promise<readonly KeptBudget[]>;
  put(account: string, field: string, budget: KeptBudget): Promise<void>;
  /** @returns whether there was one. */
  remove(account: string, field: string): Promise<boolean>;
  list(account: string, page: { cursor: string | undefined; limit: number }): Promise<BudgetPage>;
}

/**
 * The store behind a check: only valid budgets reach it. To write another one throws a TypeError that begins with `by`.
 * To look for a budget that cannot be finds nothing.
 */
export function checkedBudgetStore(by: string, { read, ...store }: UncheckedBudgetStore): WritableBudgetStore {
  const isAccount = (account: string) => idProblem(account, longestAccount) === undefined;
  return {
    ...store,
    async find(account, tags) {
      const names = Object.entries(tags).map(([tag, value]) => ({ tag, value }));
      const possible = Object.fromEntries(names.filter(isBudgetName).map(({ tag, value }) => [tag, value]));
      const fields = fieldsOf(possible);
      return isAccount(account) && fields.length > 0 ? pickBudgets(possible, await read(account, fields)) : [];
    },
    async put(account, budget) {
      const given = checkInput(`${by}.put: what is given is not valid`, putSchema, { account, budget });
      await store.put(given.account, budgetField(given.budget), withoutNulls(given.budget));
    },
    async get(account, name) {
      if (!isAccount(account) || !isBudgetName(name)) return undefined;
      return (await read(account, [budgetField(name)]))[0];
    },
    async remove(account, name) {
      return isAccount(account) && isBudgetName(name) && (await store.remove(account, budgetField(name)));
    },
    async list(account, page = {}) {
      const { cursor, limit } = checkInput(`${by}.list: what is given is not valid`, pageSchema, page);
      return isAccount(account) ? await store.list(account, { cursor, limit }) : { budgets: [] };
    },
    async forget(account) {
      if (isAccount(account)) await store.forget(account);
    },
  };
}
