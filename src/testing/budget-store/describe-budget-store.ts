import { pickBudgets } from "../../records/budgets/budget-schema.js";
import type { Budget, BudgetStore } from "../../records/budgets/budget-store.js";
import { expect } from "../expect.js";
import { type TestRunner, testRunnerOf } from "../test-runner.js";

/**
 * Defines the tests that every {@link BudgetStore} must pass.
 *
 * @param make - makes a store in which the account has these budgets, and no other account has any.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeBudgetStore(
  name: string,
  make: (account: string, budgets: readonly Budget[]) => Promise<BudgetStore> | BudgetStore,
  runner?: TestRunner,
): void {
  const { describe, it } = testRunnerOf(runner);
  describe(`${name}: the budget store contract`, () => {
    const each: Budget = { tag: "member", credits: { month: 50 }, rates: { concurrent: 2 } };
    const own: Budget = { tag: "member", value: "42", status: "suspended", message: "Ask your admin.", models: ["m"] };
    const team: Budget = { tag: "team", value: "red", credits: { day: 1.5, total: 100 } };

    const findAll = async (store: BudgetStore, account: string, tags: Record<string, string>) =>
      pickBudgets(tags, await store.find(account, tags));

    it("finds the budget of a tag's value, or else that of each value", async () => {
      const store = await make("acct_1", [each, own, team]);
      expect(await findAll(store, "acct_1", { member: "42" })).toMatchObject([own]);
      expect(await findAll(store, "acct_1", { member: "43" })).toMatchObject([each]);
      const both = await findAll(store, "acct_1", { team: "red", member: "43" });
      expect(both.toSorted((one, other) => (one.tag < other.tag ? -1 : 1))).toMatchObject([each, team]);
    });

    it.each<[string, string, Record<string, string>]>([
      ["another account", "acct_2", { member: "42" }],
      ["another case of the account", "ACCT_1", { member: "42" }],
      ["another value", "acct_1", { team: "RED" }],
      ["another tag", "acct_1", { Team: "red" }],
      ["no tag", "acct_1", {}],
      ["a name of every object", "__proto__", { constructor: "42", toString: "red" }],
    ])("finds nothing for %s", async (_, account, tags) => {
      expect(await findAll(await make("acct_1", [each, own, team]), account, tags)).toEqual([]);
    });
  });
}
