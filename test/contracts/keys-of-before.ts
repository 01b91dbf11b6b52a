import { expect } from "vitest";
import { hashKey } from "../../src/keys/hash-key.js";
import type { StoredKey, WritableKeyStore } from "../../src/keys/key-store.js";

const full = {
  id: "key_full",
  hash: hashKey("sk-full"),
  hint: "sk-…full",
  account: "acct_1",
  plan: "pro",
  name: 'Ann\'s "first" key; größer \u{1f600}',
  createdAt: 1_773_221_400_000,
  expiresAt: 4_102_444_800_000,
  revokedAt: 1_906_502_400_000,
  models: ["acme/*", "o'neill/100%"],
  anchor: -29_253_600_000,
};
const few = {
  id: "key_few",
  hash: hashKey("sk-few"),
  hint: "sk-…few",
  account: "acct_1",
  createdAt: 1_773_221_400_001,
};

function plain(key: StoredKey | undefined): object {
  return Object.fromEntries(Object.entries(key ?? {}).filter(([, value]) => value != null));
}

/** What the version before `enabled`, `metadata` and `lastUsedAt` does with a key, by statements of its own. */
export interface VersionBefore {
  /** Makes the key `key_late` of `acct_1`, with the hash of `sk-late` and the plan `pro`. */
  insert(): Promise<unknown> | unknown;
  /** Gives a key another name, and writes all that it knows of it. */
  rename(key: StoredKey, name: string): Promise<unknown> | unknown;
  /** The id of the key that it finds. */
  find(hash: string): Promise<unknown> | unknown;
}

/**
 * The keys of a dump that the version before has made are there, with all that it kept; and while it goes on beside this
 * version, neither takes anything from the other.
 */
export async function expectKeysOfBefore(keys: WritableKeyStore, before: VersionBefore): Promise<void> {
  expect((await keys.list("acct_1")).map(plain)).toEqual([full, few]);
  expect(plain(await keys.find(full.hash))).toEqual(full);
  expect(plain(await keys.get(few.id))).toEqual(few);

  const metadata = { team: "search" };
  await keys.update(few.id, { enabled: false, metadata });
  await keys.touch?.([{ id: few.id, at: 7 }]);
  const changed = { ...few, enabled: false, metadata, lastUsedAt: 7 };
  expect(plain(await keys.get(few.id))).toEqual(changed);

  expect(await before.find(few.hash)).toBe(few.id);
  await before.rename(few as StoredKey, "renamed");
  expect(plain(await keys.find(few.hash))).toEqual({ ...changed, name: "renamed" });
  await before.insert();
  expect(plain(await keys.find(hashKey("sk-late")))).toEqual({
    ...{ id: "key_late", hash: hashKey("sk-late"), hint: "sk-…late", account: "acct_1", plan: "pro", createdAt: 9 },
  });
  await keys.insert({ ...few, id: "key_new", hash: hashKey("sk-new"), enabled: true, metadata, lastUsedAt: 5 });
  expect(await before.find(hashKey("sk-new"))).toBe("key_new");
  expect(await keys.forget("acct_1")).toHaveLength(4);
}
