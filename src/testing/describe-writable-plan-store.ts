import type { Plan, WritablePlanStore } from "../plans/plan-store.js";
import { confusableTexts } from "./confusable-texts.js";
import { unique } from "./credit-ledger-fixture.js";
import { eventually } from "./eventually.js";
import { expect } from "./expect.js";
import { subscribeThree } from "./notices/subscribe-three.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

function newPlan(more: Partial<Plan> = {}): Plan {
  return { id: unique("plan"), models: ["acme/*"], ...more };
}

/** Without the members that are not there, be it as `null` or `undefined`, also inside of `credits`. */
function plain<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member != null);
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)])) as Value;
}

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
  const { describe, it } = testRunnerOf(runner);
  describe(`${name}: the writable plan store contract`, () => {
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

    it.each(["none", "__proto__", "constructor", "", "' OR '1'='1", "%"])("finds nothing for %j", async (id) => {
      const [store] = await make();
      await store.put(newPlan());
      expect(await store.find(id)).toBeUndefined();
    });

    it.each(confusableTexts)("takes %j in no id, and does not take it for another", async (text) => {
      const [store] = await make();
      const id = unique("plan");
      const twins = ["", "\ufffd", "a", "ab"].map((end) => newPlan({ id: `${id}${end}` }));
      for (const twin of twins) await store.put(twin);
      for (const wrong of [text, `${id}${text}`]) {
        await expect(store.put(newPlan({ id: wrong }))).rejects.toBeInstanceOf(TypeError);
        await expect(store.put(newPlan({ models: [wrong] }))).rejects.toBeInstanceOf(TypeError);
        expect(await store.find(wrong)).toBeUndefined();
      }
      for (const twin of twins) expect(plain(await store.find(twin.id))).toEqual(plain(twin));
    });

    it("takes ids of 256 characters, and no longer ones", async () => {
      const [store] = await make();
      for (const character of ["a", "\uffee", "\u{1f600}"]) {
        const start = unique("plan").padEnd(100);
        const plan = newPlan({ id: start + character.repeat((256 - start.length) / character.length) });
        await store.put(plan);
        expect(plain(await store.find(plan.id))).toEqual(plain(plan));
        await expect(store.put({ ...plan, id: `${plan.id}a` })).rejects.toBeInstanceOf(TypeError);
        expect(await store.find(`${plan.id}a`)).toBeUndefined();
      }
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

    it("tells ids apart by case and spaces", async () => {
      const [store] = await make();
      const plan = newPlan();
      await store.put(plan);
      for (const id of [plan.id.toUpperCase(), `${plan.id} `]) expect(await store.find(id)).toBeUndefined();
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

    it("deletes a plan, once and everywhere, and no other", async () => {
      const [store, other] = await make();
      const [plan, twin] = [newPlan(), newPlan()];
      for (const each of [plan, twin]) await store.put(each);
      expect(await other.delete(plan.id)).toBe(true);
      expect(await store.delete(plan.id)).toBe(false);
      expect(await store.find(plan.id)).toBeUndefined();
      expect((await store.listAll()).some(({ id }) => id === plan.id)).toBe(false);
      expect(plain(await other.find(twin.id))).toEqual(plain(twin));
      await store.put(plan);
      expect(plain(await other.find(plan.id))).toEqual(plain(plan));
    });

    it.each(["none", "__proto__", "", "%", "' OR '1'='1"])("deletes nothing for %j", async (id) => {
      const [store] = await make();
      const plan = newPlan();
      await store.put(plan);
      expect(await store.delete(id)).toBe(false);
      expect(plain(await store.find(plan.id))).toEqual(plain(plan));
    });

    it("keeps one of the plans that are put at once, whole", async () => {
      const stores = await make();
      const { id } = newPlan();
      const plans = [1, 2, 3, 4, 5, 6].map((n) => newPlan({ id, models: [`m-${n}`], credits: { week: n } }));
      await Promise.all(plans.map((plan, index) => stores[index % 2]?.put(plan)));
      const found = plain(await stores[0].find(id));
      expect(plans.map(plain)).toContainEqual(found);
      expect(plain(await stores[1].find(id))).toEqual(found);
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

    it("tells its subscribers of every change, wherever it is made, until they leave", async ({ skip }) => {
      const [store, other] = await make();
      const notices = await subscribeThree(store);
      if (notices === undefined) return skip("The store cannot tell.");
      const { gone, heard, end } = notices;
      const plan = newPlan();
      for (const writer of [store, other]) {
        heard.length = 0;
        await writer.put(plan);
        await eventually(() => expect(heard).toContain(plan.id));
      }
      heard.length = 0;
      await other.delete(plan.id);
      await eventually(() => expect(heard).toContain(plan.id));
      expect(gone).toEqual([]);
      await end();
    });
  });
}
