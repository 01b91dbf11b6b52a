import type { Plan, PlanStore, WritablePlanStore } from "../records/plans/plan-store.js";
import { unique } from "./credit-ledger-fixture.js";
import { expect } from "./expect.js";
import { describeRecords, type RecordTable } from "./records/describe-records.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

/**
 * Defines the tests that every {@link PlanStore} must pass.
 *
 * @param make - makes a store that holds these plans, and no others.
 * @param runner - default: see {@link TestRunner}.
 */
export function describePlanStore(
  name: string,
  make: (plans: readonly Plan[]) => Promise<PlanStore> | PlanStore,
  runner?: TestRunner,
): void {
  const { describe, it } = testRunnerOf(runner);
  describe(`${name}: the plan store contract`, () => {
    const pro: Plan = {
      id: "pro",
      models: ["acme/*", "other"],
      credits: { session: 0.5, week: 500 },
      sessionMs: 3_600_000,
      defaultOutputTokens: 100,
    };

    it("finds a plan by its id, with all that it holds", async () => {
      expect(await (await make([pro, { id: "basic", models: [] }])).find("pro")).toEqual(pro);
    });

    it("leaves out what a plan does not have", async () => {
      const found = await (await make([{ id: "basic", models: [] }])).find("basic");
      expect(found).toMatchObject({ id: "basic", models: [] });
      for (const member of ["credits", "sessionMs", "defaultOutputTokens"] as const)
        expect(found?.[member] ?? null).toBeNull();
    });

    it.each(["none", "PRO", "__proto__", "constructor", ""])("finds nothing for %j", async (id) => {
      expect((await (await make([pro])).find(id)) ?? null).toBeNull();
    });
  });
}

function newPlan(more: Partial<Plan> = {}): Plan {
  return { id: unique("plan"), models: ["acme/*"], ...more };
}

/** Without the members that are not there, be it as `null` or `undefined`, also inside of `credits`. */
function plain<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member != null);
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)])) as Value;
}

const table: RecordTable<WritablePlanStore> = {
  longestId: 256,
  replaces: true,
  put: (store, id, mark) => store.put(newPlan({ id, models: [`${mark}`], credits: { week: mark } })),
  async find(store, id) {
    const listed = (await store.listAll()).filter((plan) => plan.id === id);
    return [(await store.find(id)) ?? [], listed]
      .flat()
      .flatMap(({ models, credits }) => [Number(models[0]), credits?.week ?? 0]);
  },
  remove: (store, id) => store.delete(id),
};

/**
 * Defines the tests that every {@link WritablePlanStore} must pass.
 *
 * @param make - makes two stores that share their data, as two processes do. They need not be empty: ids are unique.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeWritablePlanStore(
  name: string,
  make: () => Promise<readonly [WritablePlanStore, WritablePlanStore]>,
  runner?: TestRunner,
): void {
  const defined = testRunnerOf(runner);
  const { describe, it } = defined;
  describe(`${name}: the writable plan store contract`, () => {
    describeRecords(defined, make, table);

    it.each<Partial<Plan>>([
      {},
      { models: [] },
      { models: ["acme/*", "o'neill/100%_\\größer", "*"] },
      { credits: null, sessionMs: null, defaultOutputTokens: null },
      { credits: {} },
      { credits: { session: 0.5, week: 500, month: 1_500.25 } },
      { credits: { session: 0, week: null, month: 9_007_199_254 } },
      { sessionMs: 3_600_000, defaultOutputTokens: 100 },
      { rates: null, priceFactor: null },
      { priceFactor: 1.25 },
      { ownKeyPriceFactor: 0 },
      { ownKeyPriceFactor: 0.1 },
      { budgets: [] },
      {
        budgets: [
          { tag: "member", credits: { month: 50 } },
          { tag: "member", value: "o'n=/größer", status: "suspended", message: "Ask.", models: ["m"] },
        ],
      },
      {
        rates: { concurrent: 0, tokensPerMinute: { limit: 5, count: "input" }, models: { "o'n/*": { concurrent: 2 } } },
      },
    ])("finds what was put, from everywhere: %j", async (members) => {
      const plan = newPlan(members);
      const stores = await make();
      await stores[0].put(plan);
      for (const store of stores) expect(plain(await store.find(plan.id))).toEqual(plain(plan));
    });

    it("replaces a plan altogether", async () => {
      const [store, other] = await make();
      const { id } = newPlan();
      await store.put(newPlan({ id, credits: { session: 1, week: 2 }, sessionMs: 60_000, defaultOutputTokens: 9 }));
      expect(await other.find(id)).toMatchObject({ credits: { session: 1, week: 2 } });
      const second = newPlan({ id, models: ["m"], credits: { month: 3 } });
      await other.put(second);
      expect(plain(await store.find(id))).toEqual(plain(second));
    });

    it("refuses a plan that is none, so that no typing error lifts a limit", async () => {
      const [store] = await make();
      const plan = newPlan({ credits: { week: 1 } });
      await store.put(plan);
      const wrong = [
        { credits: { weak: 1 } },
        { credit: {} },
        { models: "m" },
        { sessionMs: 1 },
        { budgets: [{ tag: "t", credit: 1 }] },
      ];
      for (const members of wrong) {
        await expect(store.put({ ...plan, ...members } as Plan)).rejects.toBeInstanceOf(TypeError);
      }
      expect(plain(await store.find(plan.id))).toEqual(plain(plan));
    });

    it("lists all plans, from everywhere", async () => {
      const stores = await make();
      const plans = [newPlan({ credits: { week: 1 } }), newPlan({ models: ["m"], sessionMs: 60_000 }), newPlan()];
      for (const [index, plan] of plans.entries()) await stores[index % 2]?.put(plan);
      for (const store of stores) {
        const ids = plans.map(({ id }) => id);
        const listed = (await store.listAll()).filter(({ id }) => ids.includes(id));
        expect(listed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
        for (const plan of plans) expect(plain(listed.find(({ id }) => id === plan.id))).toEqual(plain(plan));
      }
    });

    it("is not changed by what a caller does to its objects", async () => {
      const [store] = await make();
      const plan = newPlan({ models: ["m"], credits: { week: 1 } });
      const before = structuredClone(plan);
      await store.put(plan);
      Object.assign(plan.credits ?? {}, { week: 2 });
      Object.assign((await store.find(plan.id)) ?? {}, { models: ["*"] });
      expect(plain(await store.find(plan.id))).toEqual(before);
    });
  });
}
