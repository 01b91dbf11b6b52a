import { expect } from "vitest";
import type { StoredAccount, WritableAccountStore } from "../../src/accounts/account-store.js";
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
  enabled: false,
  metadata: { team: "search", größer: "'\n" },
  lastUsedAt: 1_773_221_460_000,
};
const few = {
  id: "key_few",
  hash: hashKey("sk-few"),
  hint: "sk-…few",
  account: "acct_1",
  createdAt: 1_773_221_400_001,
};
const suspended = {
  id: "acct_1",
  plan: "pro",
  anchor: -29_253_600_000,
  status: "suspended",
  message: "Pay 'first';\n\u{1f600}",
  metadata: { customer: "cus_1'", seats: 3 },
};
const active = { id: "acct_2", plan: "basic" };

function plain(stored: StoredKey | StoredAccount | undefined): object {
  const members = Object.entries(stored ?? {});
  return Object.fromEntries(members.filter(([name, value]) => name !== "version" && value != null));
}

/** What the version before caps, rates and lineages does, by statements of its own. */
export interface VersionBefore {
  /** Makes the key `key_late` of `acct_1`, with the hash of `sk-late`, the plan `pro` and `{ team: "late" }` as metadata. */
  insert(): Promise<unknown> | unknown;
  /** Gives a key another name, and writes all that it knows of it. */
  rename(key: StoredKey, name: string): Promise<unknown> | unknown;
  /** Suspends the account, and writes all that it knows of it. */
  suspend(account: StoredAccount): Promise<unknown> | unknown;
  /** Deletes the account's record. */
  forget(id: string): Promise<unknown> | unknown;
}

/**
 * The keys and accounts of a dump that the version before has made are there, with all that it kept; and while it goes
 * on beside this version, neither takes anything from the other.
 */
export async function expectStoresOfBefore(
  { keys, accounts }: { keys: WritableKeyStore; accounts: WritableAccountStore },
  before: VersionBefore,
): Promise<void> {
  expect((await keys.list("acct_1")).map(plain)).toEqual([full, few]);
  expect(plain(await keys.find(full.hash))).toEqual(full);
  expect((await accounts.list()).accounts.map(plain)).toEqual([suspended, active]);

  const limits = { credits: { day: 1.5 }, rates: { concurrent: 2, models: { "acme/*": { requestsPerMinute: 0 } } } };
  await keys.update(few.id, limits);
  await before.rename(few as StoredKey, "renamed");
  expect(plain(await keys.find(few.hash))).toEqual({ ...few, ...limits, name: "renamed" });
  await before.insert();
  expect(plain(await keys.find(hashKey("sk-late")))).toEqual({
    ...{ id: "key_late", hash: hashKey("sk-late"), hint: "sk-…late", account: "acct_1", plan: "pro", createdAt: 9 },
    metadata: { team: "late" },
  });
  const successor = { ...few, id: "key_new", hash: hashKey("sk-new"), ...limits, lineage: few.id };
  await keys.insert(successor);
  await before.rename(successor, "second");
  expect(plain(await keys.find(successor.hash))).toEqual({ ...successor, name: "second" });
  expect(await keys.forget("acct_1")).toHaveLength(4);

  const { rates } = limits;
  await accounts.update(active.id, { rates });
  await before.suspend(active);
  expect(plain(await accounts.find(active.id))).toEqual({ ...active, status: "suspended", rates });
  expect(plain((await accounts.list()).accounts[1])).toEqual({ ...active, status: "suspended", rates });
  await before.forget(active.id);
  expect(await accounts.find(active.id)).toBeUndefined();
  await accounts.put(active as StoredAccount);
  expect(plain(await accounts.find(active.id))).toEqual(active);
}
