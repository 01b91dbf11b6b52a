import { tooLargeLimits, tooManyCredits } from "../check/credit-limit.js";
import { InputError } from "../check/input-error.js";
import { withoutNulls } from "../check/without-nulls.js";
import { messageOf } from "../host-code/thrown.js";
import { applyKeyChange } from "../keys/apply-key-change.js";
import { checkKey } from "../keys/check-key.js";
import { checkedKeyStore } from "../keys/checked-key-store.js";
import { hashKey } from "../keys/hash-key.js";
import type { ApiKey, KeptKey, WritableKeyStore } from "../keys/key-store.js";
import { isMistypedKey, keyHint, managedPrefix } from "../keys/managed-key.js";
import { copyRecord } from "./copy-record.js";

/** A key in configuration: the members of {@link ApiKey}, and the key itself or its hash. */
export type MemoryKey = Omit<ApiKey, "id"> & {
  /** Default: `key_` and the first twelve digits of the hash. */
  id?: string;
} & (
    | { /** The key itself. Only its hash is kept. */ key: string; hash?: undefined }
    | { /** See {@link hashKey}. */ hash: string; key?: undefined }
  );

const members: readonly string[] = [
  ...["id", "account", "plan", "expiresAt", "revokedAt", "enabled", "models", "anchor"],
  ...["credits", "rates", "tags", "lineage"],
];

/**
 * API keys in memory, by their hashes: those of the configuration, and those that are created, which are gone when the
 * process ends.
 * @throws TypeError when a key is malformed or appears twice; the message does not contain it.
 */
export function memoryKeyStore(keys: readonly MemoryKey[] = []): WritableKeyStore {
  if (!Array.isArray(keys)) {
    throw new TypeError(
      'memoryKeyStore: pass a list of keys, such as [{ key: "sk-…", account: "acct_1", plan: "pro" }].',
    );
  }
  const byHash = new Map<string, KeptKey>();
  const ids = new Set<string>();
  const createdAt = Date.now();
  for (const [index, entry] of keys.entries()) {
    const key = toStoredKey(entry, index, createdAt);
    if (byHash.has(key.hash)) fail(index, "appears twice.");
    if (ids.has(key.id)) fail(index, "has the `id` of another key.");
    ids.add(key.id);
    byHash.set(key.hash, key);
  }
  return checkedKeyStore("memoryKeyStore", writableStore(byHash));
}

function writableStore(byHash: Map<string, KeptKey>): WritableKeyStore {
  const hashes = new Map([...byHash.values()].map(({ id, hash }) => [id, hash]));
  const listeners = new Set<{ onChange: (hash: string) => void }>();
  const notify = (hash: string) => {
    for (const listener of listeners) {
      try {
        listener.onChange(hash);
      } catch {
        // One listener's error must not keep the others from the notice.
      }
    }
  };
  const get = (id: string) => byHash.get(hashes.get(id) ?? "");
  const ofAccount = (account: string) => [...byHash.values()].filter((key) => key.account === account);

  return {
    find: async (hash) => copyRecord(byHash.get(hash)),
    withoutPlan: () => [...byHash.values()].flatMap(({ id, plan }) => (plan === undefined || plan === null ? id : [])),
    get: async (id) => copyRecord(get(id)),
    async insert(key) {
      if (byHash.has(key.hash) || hashes.has(key.id)) {
        throw new Error(`The id ${key.id}, or the hash with it, is taken.`);
      }
      byHash.set(key.hash, copyRecord(withoutNulls(key)));
      hashes.set(key.id, key.hash);
      notify(key.hash);
    },
    list: async (account) => ofAccount(account).map(copyRecord),
    async update(id, change) {
      const key = get(id);
      if (key === undefined) return undefined;
      const changed = copyRecord(applyKeyChange(key, change));
      byHash.set(key.hash, changed);
      notify(key.hash);
      return copyRecord(changed);
    },
    async touch(uses) {
      for (const { id, at } of uses) {
        const key = get(id);
        if (key !== undefined && at > (key.lastUsedAt ?? -Infinity)) byHash.set(key.hash, { ...key, lastUsedAt: at });
      }
    },
    async forget(account) {
      const forgotten = ofAccount(account);
      for (const { id, hash } of forgotten) {
        byHash.delete(hash);
        hashes.delete(id);
        notify(hash);
      }
      return forgotten.map(({ hash }) => hash);
    },
    subscribe(onChange) {
      const listener = { onChange };
      listeners.add(listener);
      return async () => {
        listeners.delete(listener);
      };
    },
  };
}

function toStoredKey(entry: MemoryKey, index: number, createdAt: number): KeptKey {
  const { key, hash: givenHash, ...rest } = entry;
  if (key !== undefined && (typeof key !== "string" || !/^[A-Za-z0-9._~+/=-]+$/.test(key))) {
    fail(index, "must have a `key` of letters, digits and ._~+/=- only: others cannot be sent as a bearer token.");
  }
  if (key === undefined && !/^[0-9a-f]{64}$/.test(givenHash ?? "")) {
    fail(index, "must have a `key`, or a `hash` of 64 lower-case hexadecimal digits as hashKey() makes it.");
  }
  if (key !== undefined && isMistypedKey(key)) {
    fail(index, `begins with ${managedPrefix} but is no key that the gateway made: give it another beginning.`);
  }
  if (typeof rest.account !== "string" || rest.account === "") fail(index, "must name its `account`.");
  if (rest.plan === "") fail(index, "must name its `plan`, or none at all where its account is in an account store.");
  const unknown = Object.keys(rest).find((name) => !members.includes(name));
  if (unknown !== undefined) fail(index, `has an unknown member: \`${unknown}\`.`);
  for (const name of ["expiresAt", "revokedAt", "anchor"] as const) {
    const instant = rest[name];
    if (instant !== undefined && instant !== null && Number.isNaN(new Date(instant).getTime())) {
      fail(index, `has an invalid date as its \`${name}\`.`);
    }
  }
  const hash = key === undefined ? (givenHash as string) : hashKey(key);
  const id = rest.id ?? `key_${hash.slice(0, 12)}`;
  const record = withoutNulls(checked({ ...rest, id }, index));
  return { ...record, hash, hint: key === undefined ? "…" : keyHint(key), createdAt };
}

function checked(record: ApiKey, index: number): ReturnType<typeof checkKey> {
  try {
    const [tooLarge] = tooLargeLimits(record.credits);
    if (tooLarge !== undefined) throw new InputError(`credits.${tooLarge}: ${tooManyCredits}`);
    return checkKey(record);
  } catch (error) {
    return fail(index, `is not valid: ${messageOf(error)}`);
  }
}

function fail(index: number, problem: string): never {
  throw new TypeError(`memoryKeyStore: keys[${index}] ${problem}`);
}
