import type { StoredKey, WritableKeyStore } from "../../keys/key-store.js";
import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { AnyRunner } from "../test-runner.js";

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
