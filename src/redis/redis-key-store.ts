import { requireKnownOptions } from "../check/known-options.js";
import { checkedKeyStore } from "../keys/checked-key-store.js";
import type { KeptKey, KeyChange, KeyUse, WritableKeyStore } from "../keys/key-store.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "./redis-options.js";
import { makeScript } from "./script.js";
import {
  findKeyByHash,
  findKeys,
  forgetKeys,
  hashesOfAccount,
  hashesOfKeys,
  hashOfKey,
  insertKey,
  touchKeys,
  updateKey,
} from "./store-scripts/keys.js";
import { fromFields, storedFields, toFieldChanges, toFields } from "./stored-fields.js";

const scripts = {
  find: makeScript(findKeyByHash),
  hashOf: makeScript(hashOfKey),
  hashesOf: makeScript(hashesOfAccount),
  findAll: makeScript(findKeys),
  insert: makeScript(insertKey),
  update: makeScript(updateKey),
  hashesOfIds: makeScript(hashesOfKeys),
  touch: makeScript(touchKeys),
  forget: makeScript(forgetKeys),
};

/** How many keys one script reads or deletes, so that it keeps no other client waiting. */
const mostPerScript = 100;

/**
 * API keys in Redis, by their SHA-256. They do not expire there: a key is deleted with its account only.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisKeyStore(options: RedisOptions): WritableKeyStore {
  requireKnownOptions("redisKeyStore", options, knownRedisOptions);
  return keyStoreOn(connectionOf(options));
}

/** The same on a connection that is shared with other stores. */
export function keyStoreOn({ run, prefix, changes }: RedisConnection): WritableKeyStore {
  const slot = `${prefix}:{keys}`;
  const keyOf = (hash: string) => `${slot}:hash:${hash}`;
  const idOf = (id: string) => `${slot}:id:${id}`;
  const accountOf = (account: string) => `${slot}:account:${account}`;

  async function find(hash: string): Promise<KeptKey | undefined> {
    return fromFields<KeptKey>((await run(scripts.find, [keyOf(hash)], [])) as readonly unknown[]);
  }

  async function hashOf(id: string): Promise<string | undefined> {
    const hash = await run(scripts.hashOf, [idOf(id)], []);
    return hash === null || hash === undefined ? undefined : String(hash);
  }

  async function list(account: string): Promise<KeptKey[]> {
    const hashes = ((await run(scripts.hashesOf, [accountOf(account)], [])) as readonly unknown[]).map(String);
    const keys: KeptKey[] = [];
    for (const some of chunks(hashes)) {
      const found = (await run(scripts.findAll, some.map(keyOf), [])) as readonly (readonly unknown[])[];
      // Those that were forgotten meanwhile are not there.
      keys.push(...found.flatMap((fields) => fromFields<KeptKey>(fields) ?? []));
    }
    // One may have moved since its digest was read.
    return keys.filter((key) => key.account === account);
  }

  /** Again until it is of the account that it was read with, for others may move it meanwhile. */
  async function update(id: string, change: KeyChange): Promise<KeptKey | undefined> {
    const { set, gone } = toFieldChanges(change, storedFields.key);
    for (;;) {
      const hash = await hashOf(id);
      if (hash === undefined) return undefined;
      const from = change.account === undefined ? undefined : (await find(hash))?.account;
      const sets = from === undefined ? [] : [from, change.account ?? from].map(accountOf);
      const args = [hash, changes.channel, set.length, ...set, ...gone];
      if (from !== undefined) args.push(JSON.stringify(from));
      const changed = (await run(scripts.update, [keyOf(hash), ...sets], args)) as readonly unknown[] | null;
      if (changed !== null) return fromFields<KeptKey>(changed);
    }
  }

  async function touch(uses: readonly KeyUse[]): Promise<void> {
    for (const some of chunks(uses)) {
      const names = some.map(({ id }) => idOf(id));
      const hashes = (await run(scripts.hashesOfIds, names, [])) as readonly unknown[];
      const found = some.flatMap(({ at }, index) => (hashes[index] ? { at, key: keyOf(String(hashes[index])) } : []));
      const [keys, moments] = [found.map(({ key }) => key), found.map(({ at }) => at)];
      if (keys.length > 0) await run(scripts.touch, keys, moments);
    }
  }

  return checkedKeyStore("redisKeyStore", {
    find,
    list,
    update,
    touch,

    async insert(key) {
      const { id, hash, account, createdAt } = key;
      const keys = [keyOf(hash), idOf(id), accountOf(account)];
      const args = [hash, createdAt, changes.channel, ...toFields(key, storedFields.key)];
      const inserted = await run(scripts.insert, keys, args);
      if (Number(inserted) !== 1) throw new Error(`There is already a key of the id ${id}, or of the same hash.`);
    },

    async get(id) {
      const hash = await hashOf(id);
      return hash === undefined ? undefined : await find(hash);
    },

    async forget(account) {
      const forgotten: string[] = [];
      // Again until there are none, for others may be inserted meanwhile.
      for (let keys = await list(account); keys.length > 0; keys = await list(account)) {
        for (const some of chunks(keys)) {
          const names = some.flatMap(({ hash, id }) => [keyOf(hash), idOf(id)]);
          const hashes = some.map(({ hash }) => hash);
          const args = [changes.channel, JSON.stringify(account), ...hashes];
          const gone = (await run(scripts.forget, [accountOf(account), ...names], args)) as readonly unknown[];
          forgotten.push(...gone.map(String));
        }
      }
      return forgotten;
    },

    ...(changes.canSubscribe && { subscribe: (onChange) => changes.subscribe("key", onChange) }),
  });
}

function chunks<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / mostPerScript) }, (_, index) =>
    items.slice(index * mostPerScript, (index + 1) * mostPerScript),
  );
}
