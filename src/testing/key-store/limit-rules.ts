import type { KeyChange, StoredKey, WritableKeyStore } from "../../keys/key-store.js";
import type { ModelRates } from "../../metering/rates.js";
import { confusableTexts } from "../confusable-texts.js";
import { expect } from "../expect.js";
import type { AnyRunner } from "../test-runner.js";

/** Patterns of every name, `__proto__` too, in an order that does not matter. */
function sortedRates(models: Readonly<Record<string, ModelRates>> | null | undefined): [string, ModelRates][] {
  return Object.entries(models ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
}

/** What holds of caps, rates and where they are counted. A store that changed or dropped one would lift a limit. */
export function limitRules(
  it: AnyRunner["it"],
  make: () => Promise<readonly [WritableKeyStore, WritableKeyStore]>,
  newKey: (more?: Partial<StoredKey>) => StoredKey,
): void {
  it.each([
    ["names of every object", `["__proto__","constructor","toString","hasOwnProperty","length"]`],
    ["names that are numbers", `["10","9","-1","1e3"]`],
    ["marks of other languages", JSON.stringify(["a.b/*", "' OR 1=1 --", "\\u0000", "%s$1", '"}', " "])],
    ["other scripts", JSON.stringify(["\u{1f600}*", "e\u0301", "\u00e9", "\ufeff", "\ufffe"])],
  ])("keeps rates by patterns as they are: %s", async (_, json) => {
    const [store, other] = await make();
    const names: string[] = JSON.parse(json);
    const models = Object.fromEntries(names.map((name, index) => [name, { concurrent: index }]));
    const key = newKey({ rates: { models } });
    await store.insert(key);
    const second = newKey();
    await store.insert(second);
    await store.update(second.id, { rates: { models } });
    for (const { id, hash } of [key, second]) {
      for (const found of [await other.get(id), await other.find(hash), await store.update(id, { name: "x" })]) {
        expect(sortedRates(found?.rates?.models)).toEqual(sortedRates(models));
      }
    }
  });

  it.each([0, 1e-6, 0.1, 123_456_789.123_456, 9_007_199_254, Number.MIN_VALUE])(
    "keeps a cap of %d credits to the last digit",
    async (amount) => {
      const [store, other] = await make();
      const key = newKey({ credits: { day: amount } });
      await store.insert(key);
      expect((await other.find(key.hash))?.credits).toEqual({ day: amount });
      await store.update(key.id, { credits: { total: amount } });
      expect((await other.find(key.hash))?.credits).toEqual({ total: amount });
    },
  );

  it.each([9_007_199_255, 1e21, Number.MAX_VALUE])(
    "refuses a cap of %d credits, which cannot be counted",
    async (amount) => {
      const [store, other] = await make();
      const refused = newKey({ credits: { day: amount } });
      await expect(store.insert(refused)).rejects.toBeInstanceOf(TypeError);
      expect(await other.find(refused.hash)).toBeUndefined();
      const key = newKey({ credits: { day: 5 } });
      await store.insert(key);
      await expect(store.update(key.id, { credits: { total: amount } })).rejects.toBeInstanceOf(TypeError);
      expect((await other.find(key.hash))?.credits).toEqual({ day: 5 });
    },
  );

  it("replaces caps and rates as a whole", async () => {
    const [store, other] = await make();
    const key = newKey({ credits: { day: 1, week: 2 }, rates: { concurrent: 1, models: { a: { concurrent: 2 } } } });
    await store.insert(key);
    await other.update(key.id, { credits: { month: 3 }, rates: { models: { b: { requestsPerMinute: 4 } } } });
    expect(await store.find(key.hash)).toMatchObject({ credits: { month: 3 } });
    expect((await store.find(key.hash))?.credits).toEqual({ month: 3 });
    expect((await store.find(key.hash))?.rates).toEqual({ models: { b: { requestsPerMinute: 4 } } });
  });

  it("never changes a lineage, and keeps keys of one lineage apart", async () => {
    const [store, other] = await make();
    const first = newKey();
    const second = newKey({ account: first.account, lineage: first.id, createdAt: first.createdAt + 1 });
    for (const key of [first, second]) await store.insert(key);
    for (const lineage of ["another", null]) {
      // A store may refuse it, too.
      await other.update(second.id, { lineage } as KeyChange).catch(() => {});
      await other.update(first.id, { lineage } as KeyChange).catch(() => {});
    }
    expect((await store.list(first.account)).map(({ lineage }) => lineage ?? null)).toEqual([null, first.id]);
    expect(await store.get(first.id)).toMatchObject({ id: first.id });
  });

  it.each<Record<string, unknown>>([
    { credits: { daily: 5 } },
    { credits: { day: -1 } },
    { credits: { day: "5" } },
    { credits: { total: Number.POSITIVE_INFINITY } },
    { credits: 5 },
    { rates: { requestPerMinute: 5 } },
    { rates: { requestsPerMinute: { limit: 5, brust: 1 } } },
    { rates: { requestsPerMinute: 1.5 } },
    { rates: { tokensPerMinute: { burst: 5 } } },
    { rates: { tokensPerMinute: { limit: 5, count: "all" } } },
    { rates: { concurrent: -1 } },
    { rates: { models: { "": { concurrent: 1 } } } },
    { rates: { models: { a: { concurent: 1 } } } },
    { rates: { models: { a: null } } },
    { rates: { models: ["a"] } },
    { rates: { models: JSON.parse('{"__proto__":{"concurent":1}}') } },
    ...confusableTexts.map((text) => ({ rates: { models: { [`a${text}`]: { concurrent: 1 } } } })),
  ])("takes no limits like %j", async (limits) => {
    const [store] = await make();
    const key = newKey({ credits: { day: 5 }, rates: { concurrent: 5 } });
    await store.insert(key);
    await expect(store.insert(newKey(limits))).rejects.toBeInstanceOf(TypeError);
    await expect(store.update(key.id, limits)).rejects.toBeInstanceOf(TypeError);
    expect(await store.get(key.id)).toMatchObject({ credits: { day: 5 }, rates: { concurrent: 5 } });
  });

  it.each(confusableTexts)("takes %j in no lineage", async (text) => {
    const [store] = await make();
    await expect(store.insert(newKey({ lineage: text }))).rejects.toBeInstanceOf(TypeError);
  });

  it("hands out caps and rates that a caller may change without changing the key", async () => {
    const [store] = await make();
    const [credits, models] = [{ day: 5 }, { a: { concurrent: 1 } }];
    const key = newKey({ credits, rates: { models } });
    await store.insert(key);
    credits.day = 6;
    models.a.concurrent = 2;
    const found = await store.find(key.hash);
    Object.assign(found?.credits ?? {}, { day: 7 });
    Object.assign(found?.rates?.models?.["a"] ?? {}, { concurrent: 3 });
    expect(await store.find(key.hash)).toMatchObject({
      credits: { day: 5 },
      rates: { models: { a: { concurrent: 1 } } },
    });
  });
}
