import * as z from "zod";
import { checkInput } from "../../check/check-input.js";
import { idProblem } from "../../check/id-problem.js";
import { withoutNulls } from "../../check/plain-data.js";
import { idText } from "../../check/text-schemas.js";
import { keyAccount } from "../keys/check-key.js";
import { ownedId, type RecordStore } from "../record-store.js";
import { pageOf, subscriptionTo } from "../use-records.js";
import { budgetField, fieldsOf, isBudgetName, longestField, newBudgetSchema, pickBudgets } from "./budget-schema.js";
import type { KeptBudget, WritableBudgetStore } from "./budget-store.js";

const longestAccount = 128;

const pageSchema = z.strictObject({
  cursor: idText(longestField).optional(),
  limit: z.number().int().min(1).max(1000).default(100),
});
const putSchema = z.object({ account: keyAccount, budget: newBudgetSchema });

/**
 * Budgets among these records, by account and {@link budgetField}: only valid ones are written. To put another one throws a
 * TypeError that begins with `by`. To look for a budget that cannot be finds nothing.
 */
export function recordBudgetStore(by: string, records: RecordStore): WritableBudgetStore {
  const isAccount = (account: string) => idProblem(account, longestAccount) === undefined;
  const read = async (account: string, fields: readonly string[]): Promise<KeptBudget[]> => {
    const ids = fields.map((field) => ownedId(account, field));
    return (await records.get("budget", "id", ids)).map(({ text }) => JSON.parse(text));
  };
  return {
    ...subscriptionTo(records, "budget"),
    async find(account, tags) {
      const names = Object.entries(tags).map(([tag, value]) => ({ tag, value }));
      const possible = Object.fromEntries(names.filter(isBudgetName).map(({ tag, value }) => [tag, value]));
      const fields = fieldsOf(possible);
      return isAccount(account) && fields.length > 0 ? pickBudgets(possible, await read(account, fields)) : [];
    },
    async put(account, budget) {
      const given = checkInput(`${by}.put: what is given is not valid`, putSchema, { account, budget });
      const id = ownedId(account, budgetField(given.budget));
      const text = JSON.stringify(withoutNulls(given.budget));
      await records.put("budget", { id, owner: account, alias: null, text });
    },
    async get(account, name) {
      if (!isAccount(account) || !isBudgetName(name)) return undefined;
      return (await read(account, [budgetField(name)]))[0];
    },
    async remove(account, name) {
      return (
        isAccount(account) &&
        isBudgetName(name) &&
        (await records.remove("budget", ownedId(account, budgetField(name))))
      );
    },
    async list(account, page = {}) {
      const { cursor, limit } = checkInput(`${by}.list: what is given is not valid`, pageSchema, page);
      if (!isAccount(account)) return { budgets: [] };
      const after = cursor === undefined ? "" : ownedId(account, cursor);
      const found = await records.list("budget", { owner: account, after, limit: limit + 1 });
      const { shown, last } = pageOf(found, limit);
      const budgets = shown.map(({ text }): KeptBudget => JSON.parse(text));
      return last === undefined ? { budgets } : { budgets, cursor: last.slice(ownedId(account, "").length) };
    },
    async forget(account) {
      if (isAccount(account)) await records.clear("budget", account);
    },
  };
}
