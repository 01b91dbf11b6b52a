import { describe, expect, it } from "vitest";
import { memoryBudgetStore, memoryModelStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { smallModel } from "../../../support/test-gateway.js";
import { withBudgets } from "./start-budgets.js";

const code = "unmatched_budget_pattern";
const misspelled = { models: ["acme/smal", "acme/*"], rates: { models: { "acme/lrage": { requestsPerMinute: 9 } } } };
const aliased = { ...smallModel, id: "acme/aliased", aliases: ["gpt-5"] };

/** The two warnings of {@link misspelled}. */
const ofMisspelled = (name: string) =>
  ["names", "limits the rates of"].map((verb, at) => ({
    code,
    message: `${name} ${verb} the model "${["acme/smal", "acme/lrage"][at]}", which matches nothing in the catalog. Check its spelling.`,
  }));

describe("a budget that names a model which is not there is warned of", () => {
  it(
    "when it is put, with the name of what it may have meant",
    withBudgets({ models: [smallModel, aliased] }, async ({ gateway, warnings }) => {
      await gateway.budgets.put("acct_1", { tag: "member", value: "42", ...misspelled });
      expect(warnings).toEqual(ofMisspelled('A budget of "member" of the account "acct_1"'));
      await gateway.budgets.put("acct_1", { tag: "team", models: ["gpt-5"] });
      expect(warnings.at(-1)?.message).toBe(
        'A budget of "team" of the account "acct_1" names the model "gpt-5", which matches no id in the catalog, but the ' +
          'alias "gpt-5" of "acme/aliased". Budgets name ids: name that.',
      );
      await gateway.budgets.put("acct_1", { tag: "team", models: ["acme/small", "*"] });
      await gateway.budgets.put("acct_1", { tag: "team", models: [] });
      expect(warnings).toHaveLength(3);
    }),
  );

  it("once, when it is found that another process has put it", async () => {
    const budgets = memoryBudgetStore();
    await budgets.put("acct_1", { tag: "member", ...misspelled });
    await withBudgets({ budgets, cacheTtlMs: 0 }, async ({ call, keyOf, warnings }) => {
      const keys = [await keyOf({ member: "42" }), await keyOf({ member: "43" })];
      for (const key of [...keys, ...keys]) expect((await call(key)).status).toBe(200);
      expect(warnings).toEqual(ofMisspelled('A budget of "member" of the account "acct_1"'));
    })();
  });

  it(
    "in a plan: when the gateway begins, when the plan is put, and when the models change",
    withBudgets({ plan: { budgets: [{ tag: "member", ...misspelled }] } }, async ({ gateway, warnings }) => {
      const expected = ofMisspelled('A budget of "member" in the plan "pro"');
      expect(warnings).toEqual(expected);
      await gateway.plans.put({ id: "new", models: ["acme/*"], budgets: [{ tag: "member", models: ["acme/larg"] }] });
      expect(warnings.slice(2)).toMatchObject([
        {
          code,
          message: expect.stringMatching(/^A budget of "member" in the plan "new" names the model "acme\/larg"/),
        },
      ]);
      gateway.update({ models: [{ ...smallModel, id: "other/one" }] });
      expect(warnings).toContainEqual(
        expect.objectContaining({
          ...{
            code,
            message: expect.stringMatching(/^A budget of "member" in the plan "pro" names the model "acme\/\*"/),
          },
        }),
      );
    }),
  );

  it("unless the model is in the store of models", async () => {
    const plans = memoryPlanStore({ pro: { models: ["acme/*"], budgets: [{ tag: "team", models: ["acme/stored"] }] } });
    const modelStore = memoryModelStore([{ ...smallModel, id: "acme/stored" }]);
    await withBudgets({ plans, modelStore, models: [] }, async ({ gateway, call, keyOf, warnings }) => {
      await gateway.budgets.put("acct_1", { tag: "member", models: ["acme/stored"] });
      const key = await keyOf({ member: "42", team: "red" });
      expect((await call(key, { model: "acme/stored" })).status).toBe(200);
      expect(warnings).toEqual([]);
    })();
  });
});
