import type { ModelRates } from "../../prices/rates.js";
import type { KeyChange, StoredKey, WritableKeyStore } from "../../records/keys/key-store.js";
import { confusableTexts } from "../confusable-texts.js";
import { unique } from "../credit-ledger-fixture.js";
import { eventually, expect } from "../expect.js";
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

/** What holds of keys that move to other accounts. */
export function moveRules(
  it: AnyRunner["it"],
  make: () => Promise<readonly [WritableKeyStore, WritableKeyStore]>,
  newKey: (more?: Partial<StoredKey>) => StoredKey,
): void {
  it("moves a key to another account, with all that it has", async () => {
    const [store, other] = await make();
    const [key, bystander] = [newKey({ name: "first", lastUsedAt: 5, tags: { member: "1" } }), newKey()];
    for (const each of [key, bystander]) await store.insert(each);
    const moved = { ...key, account: bystander.account, name: "second", tags: { member: "2" } };
    const change = { account: bystander.account, name: "second", tags: { member: "2" } };
    expect(await store.update(key.id, change)).toEqual(moved);
    expect(await other.find(key.hash)).toEqual(moved);
    expect(await other.get(key.id)).toEqual(moved);
    expect(await other.list(key.account)).toEqual([]);
    const listed = await other.list(bystander.account);
    expect(listed.map(({ id }) => id).sort()).toEqual([key.id, bystander.id].sort());
    expect(await other.get(bystander.id)).toEqual(bystander);
  });

  it("forgets a key with the account that it has moved to, and not with the one before", async () => {
    const [store, other] = await make();
    const key = newKey();
    await store.insert(key);
    const account = unique("account");
    await store.update(key.id, { account });
    expect(await other.forget(key.account)).toEqual([]);
    expect(await other.get(key.id)).toEqual({ ...key, account });
    expect(await other.forget(account)).toEqual([key.hash]);
    expect(await store.get(key.id)).toBeUndefined();
    expect(await store.find(key.hash)).toBeUndefined();
  });

  it("takes a move to the account that it is of for no change", async () => {
    const [store] = await make();
    const key = newKey();
    await store.insert(key);
    expect(await store.update(key.id, { account: key.account, name: "same" })).toEqual({ ...key, name: "same" });
    expect(await store.list(key.account)).toEqual([{ ...key, name: "same" }]);
  });

  it("moves no key that is not there, and none to an account that no account can be", async () => {
    const [store] = await make();
    const key = newKey();
    await store.insert(key);
    expect(await store.update(unique("key"), { account: key.account })).toBeUndefined();
    await expect(store.update(key.id, { account: "a\u0000" })).rejects.toBeInstanceOf(TypeError);
    expect(await store.list(key.account)).toEqual([key]);
  });

  it("leaves a key that several move at once with one account, which forgets it", async () => {
    const stores = await make();
    const key = newKey();
    await stores[0].insert(key);
    const accounts = Array.from({ length: 6 }, () => unique("account"));
    await Promise.all(accounts.map((account, index) => stores[index % 2]?.update(key.id, { account })));
    const owner = (await stores[1].get(key.id))?.account ?? "";
    expect(accounts).toContain(owner);
    for (const account of [key.account, ...accounts]) {
      expect((await stores[0].list(account)).map(({ id }) => id)).toEqual(account === owner ? [key.id] : []);
    }
    for (const account of [key.account, ...accounts.filter((each) => each !== owner)]) {
      expect(await stores[1].forget(account)).toEqual([]);
    }
    expect(await stores[0].forget(owner)).toEqual([key.hash]);
  });
}

const noTouch = "The store does not keep when keys were used.";
const moment = Date.UTC(2026, 5, 1);

/** What holds of {@link KeyStore.touch}. Skipped where a store has none. */
export function touchRules(
  it: AnyRunner["it"],
  make: () => Promise<readonly [WritableKeyStore, WritableKeyStore]>,
  newKey: (more?: Partial<StoredKey>) => StoredKey,
): void {
  it("keeps when keys were last used, for all to see, and changes nothing else", async ({ skip }) => {
    const [store, other] = await make();
    if (!store.touch) return skip(noTouch);
    const keys = [newKey({ metadata: { team: "red" }, enabled: false, revokedAt: 5 }), newKey()];
    for (const key of [...keys, newKey()]) await store.insert(key);
    await store.touch(keys.map(({ id }, index) => ({ id, at: moment + index })));
    for (const [index, key] of keys.entries()) {
      const expected = { ...key, lastUsedAt: moment + index };
      expect(await other.get(key.id)).toMatchObject(expected);
      expect(await other.find(key.hash)).toMatchObject(expected);
      expect(await other.list(key.account)).toMatchObject([expected]);
      expect(await other.update(key.id, { name: "x" })).toMatchObject({ ...expected, name: "x" });
    }
    const untouched = newKey();
    await store.insert(untouched);
    expect((await other.get(untouched.id))?.lastUsedAt ?? null).toBeNull();
  });

  it("keeps the moment of a key that is inserted with one", async ({ skip }) => {
    const [store, other] = await make();
    if (!store.touch) return skip(noTouch);
    const key = newKey({ lastUsedAt: moment });
    await store.insert(key);
    await other.touch?.([{ id: key.id, at: moment - 1 }]);
    expect(await other.find(key.hash)).toMatchObject({ lastUsedAt: moment });
  });

  it("replaces no moment by an earlier one, in whatever order they come", async ({ skip }) => {
    const [store, other] = await make();
    if (!store.touch) return skip(noTouch);
    const key = newKey();
    await store.insert(key);
    for (const [at, lastUsedAt] of [
      // As numbers, not as texts.
      [9_999, 9_999],
      [10_000, 10_000],
      [9_998, 10_000],
      [moment, moment],
      [moment - 1, moment],
    ] as const) {
      await other.touch?.([{ id: key.id, at }]);
      expect((await store.get(key.id))?.lastUsedAt).toBe(lastUsedAt);
    }
    const uses = [3, 9, 2, 7].map((minutes) => ({ id: key.id, at: moment + minutes }));
    await store.touch(uses);
    expect((await other.get(key.id))?.lastUsedAt).toBe(moment + 9);
  });

  it("keeps the latest of the moments that come at once, in whatever order the keys are", async ({ skip }) => {
    const stores = await make();
    if (!stores[0].touch) return skip(noTouch);
    const keys = Array.from({ length: 20 }, () => newKey());
    for (const key of keys) await stores[0].insert(key);
    const uses = (round: number) => keys.map(({ id }, index) => ({ id, at: moment + ((round * 7 + index) % 11) }));
    const touches = Array.from({ length: 11 }, (_, round) =>
      stores[round % 2]?.touch?.(round % 3 === 0 ? uses(round) : uses(round).reverse()),
    );
    await Promise.all(touches);
    for (const { id } of keys) expect((await stores[1].get(id))?.lastUsedAt).toBe(moment + 10);
  });

  it("loses no change of a key that is touched meanwhile", async ({ skip }) => {
    const [store, other] = await make();
    if (!store.touch) return skip(noTouch);
    const key = newKey();
    await store.insert(key);
    const touch = (at: number) => store.touch?.([{ id: key.id, at }]);
    const update = (index: number) => other.update(key.id, { metadata: { round: String(index) }, enabled: false });
    await Promise.all(Array.from({ length: 10 }, (_, index) => [touch(moment + index), update(index)]).flat());
    expect(await other.get(key.id)).toMatchObject({ enabled: false, lastUsedAt: moment + 9, plan: "pro" });
    expect(Object.keys((await other.get(key.id))?.metadata ?? {})).toEqual(["round"]);
  });

  it("passes over keys that are not there, and makes none", async ({ skip }) => {
    const [store, other] = await make();
    if (!store.touch) return skip(noTouch);
    const [key, gone] = [newKey(), newKey()];
    for (const each of [key, gone]) await store.insert(each);
    await other.forget(gone.account);
    const unknown = ["", "__proto__", "constructor", "' OR '1'='1", ...confusableTexts, gone.id];
    await store.touch([...unknown, key.id].map((id) => ({ id, at: moment })));
    await store.touch([]);
    expect(await other.get(key.id)).toMatchObject({ lastUsedAt: moment });
    for (const id of unknown) expect(await other.get(id)).toBeUndefined();
    expect(await other.find(gone.hash)).toBeUndefined();
    expect(await other.list(gone.account)).toEqual([]);
  });

  it("touches more keys than it has room for in one step", async ({ skip }) => {
    const [store] = await make();
    if (!store.touch) return skip(noTouch);
    const account = newKey().account;
    const keys = Array.from({ length: 250 }, () => newKey({ account }));
    for (const key of keys) await store.insert(key);
    await store.touch(keys.map(({ id }) => ({ id, at: moment })));
    const listed = await store.list(account);
    expect(listed.filter(({ lastUsedAt }) => lastUsedAt === moment)).toHaveLength(250);
  });

  it("gives no notice of a use, which would empty the caches", async ({ skip }) => {
    const [store, other] = await make();
    if (!store.touch) return skip(noTouch);
    if (!store.subscribe) return skip("The store cannot tell.");
    const heard: string[] = [];
    const end = await store.subscribe((hash) => heard.push(hash));
    const [used, changed] = [newKey({ lastUsedAt: 1 }), newKey()];
    for (const key of [used, changed]) await other.insert(key);
    await eventually(() => expect([used, changed].every(({ hash }) => heard.includes(hash))).toBe(true));
    heard.length = 0;
    await other.touch?.([{ id: used.id, at: moment }]);
    await other.update(changed.id, { enabled: false });
    // Notices come in the order of the changes.
    await eventually(() => expect(heard).toContain(changed.hash));
    expect(heard).not.toContain(used.hash);
    await end();
  });
}
