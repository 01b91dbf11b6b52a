import type { StoredKey, WritableKeyStore } from "../../keys/key-store.js";
import { confusableTexts } from "../confusable-texts.js";
import { eventually } from "../eventually.js";
import { expect } from "../expect.js";
import type { AnyRunner } from "../test-runner.js";

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
