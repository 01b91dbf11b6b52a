import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { memoryModelStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { largeModel, smallModel, startTestGateway } from "../../../support/test-gateway.js";
import { closeStarted, listed, named, start, startPair } from "./fixture.js";

afterEach(closeStarted);

const wrong: readonly (readonly [string, object, RegExp])[] = [
  ["no price", { ...smallModel, price: undefined }, /price: must be \{ input, output \}|price: is required/],
  ["no price for output", { ...smallModel, price: { input: 1 } }, /has no price\.output/],
  ["a misspelled member", { ...smallModel, contextLenght: 5 }, /`contextLenght` \(did you mean `contextLength`\?\)/],
  [
    "an unknown provider",
    named("acme/new", { upstream: { provider: "fak", model: "x" } }),
    /provider "fak".*There are: "fake"/,
  ],
  [
    "a price of too many decimals",
    named("acme/new", { price: { input: 1e-13, output: 1 } }),
    /the price of the model "acme\/new"/,
  ],
  ["code in what it says", named("acme/new", { extra: { now: () => 1 } }), /extra\.now: must be JSON data/],
  ["more than an entry holds", named("acme/new", { extra: { text: "a".repeat(20_000) } }), /at most 16384 characters/],
  ["half of a disabled model", { id: "acme/small", disabled: true, type: "chat" }, /upstream: must be/],
];

describe("a model for the store", () => {
  it.each(wrong)("is refused with %s, in the words of createGateway", async (_, model, message) => {
    const store = memoryModelStore();
    const { gateway } = await start(store);
    await expect(gateway.models.put(model as never)).rejects.toMatchObject({ status: 400, message });
    const { problems, changes } = await gateway.models.check(model);
    expect([problems.join("\n"), changes]).toEqual([expect.stringMatching(message), []]);
    expect(await store.list()).toEqual([]);
  });

  it("is checked together with others, and what it would change is told", async () => {
    const { one, store } = await startPair();
    const dearer = { ...smallModel, price: { input: 5, output: 50 } };
    const models = [dearer, named("acme/new"), { id: "acme/free", disabled: true }, largeModel];
    const { problems, changes } = await one.gateway.models.check(models);
    expect(problems).toEqual([]);
    expect(changes.map(({ id, change, members }) => [id, change, members])).toEqual([
      ["acme/small", "changed", ["price"]],
      ["acme/new", "added", []],
      ["acme/free", "removed", []],
      ["acme/large", "none", []],
    ]);
    expect([changes[0]?.before?.price, changes[0]?.after?.price]).toEqual([smallModel.price, dearer.price]);
    expect(await store.list()).toEqual([]);
    const twice = await one.gateway.models.check([dearer, dearer, { id: 5 }]);
    expect(twice.problems.join()).toMatch(/appears twice.*models\[2\]\.?.*/s);
  });

  it("needs a store to change models", async () => {
    const test = await startTestGateway();
    expect(await test.gateway.models.get("acme/small")).toMatchObject({ source: "options" });
    for (const method of ["put", "remove", "check"] as const) {
      const call = test.gateway.models[method] as (input: unknown) => Promise<unknown>;
      await expect(call(method === "put" ? smallModel : "acme/small")).rejects.toMatchObject({
        status: 501,
        message: expect.stringMatching(/modelStore: stores\.modelStore.*memoryModelStore\(\)/),
      });
    }
    await test.close();
  });

  it("lets plans name it before and after, and warns of those that name what is gone", async () => {
    const store = memoryModelStore([named("other/one")]);
    const test = await start(store, { plans: memoryPlanStore({ pro: { models: ["other/*"] } }) });
    await test.gateway.plans.put({ id: "more", models: ["other/one"] });
    expect(await listed(test)).toEqual(["other/one"]);
    expect(test.warnings).toEqual([]);
    await test.gateway.models.remove("other/one");
    expect(test.warnings.map(({ code }) => code)).toContain("unmatched_plan_pattern");
  });
});

describe("any order of changes", () => {
  const ids = ["acme/small", "acme/large", "acme/new", "acme/z"];
  const step = fc.record({
    by: fc.integer({ min: 0, max: 1 }),
    id: fc.constantFrom(...ids),
    act: fc.constantFrom("put", "disable", "remove", "invalid"),
    input: fc.integer({ min: 1, max: 5 }),
    expects: fc.constantFrom("nothing", "current", "none", "stale"),
  });

  it("leaves both gateways as a map of what was put says", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const store = memoryModelStore();
        const pair = [await startTestGateway({ modelStore: store }), await startTestGateway({ modelStore: store })];
        const held = new Map<string, number | "disabled">();
        for (const { by, id, act, input, expects } of steps) {
          const { models } = (pair[by] as (typeof pair)[0]).gateway;
          const current = (await models.get(id))?.version;
          const expected = { nothing: undefined, current: current ?? null, none: null, stale: "stale" }[expects];
          const fits = expects === "nothing" || expects === "current" || (expects === "none" && !held.has(id));
          const price = { input: act === "invalid" ? -1 : input, output: 1 };
          const data = act === "disable" ? { id, disabled: true as const } : named(id, { price });
          const removal = expected === null ? {} : { expected };
          const outcome = await (act === "remove" ? models.remove(id, removal) : models.put(data, { expected })).then(
            () => true,
            () => false,
          );
          const removes = act === "remove" && (expects !== "stale" || !held.has(id));
          expect(outcome).toBe(act === "remove" ? removes : act !== "invalid" && fits);
          if (!outcome) continue;
          if (act === "remove") held.delete(id);
          else held.set(id, act === "disable" ? "disabled" : input);
        }
        for (const { gateway } of pair) {
          for (const id of ids) {
            const state = await gateway.models.get(id);
            const own = id === "acme/small" || id === "acme/large" ? 1 : undefined;
            const meant = held.get(id) ?? own;
            expect(state?.model?.price.input).toBe(meant === "disabled" ? undefined : meant);
            expect(state?.model === undefined).toBe(gateway.health().models[id] === undefined);
          }
        }
        for (const test of pair) await test.close();
      }),
      { numRuns: 40 },
    );
  });
});
