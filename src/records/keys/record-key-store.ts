import * as z from "zod";
import { checkInput } from "../../check/check-input.js";
import { idProblem } from "../../check/id-problem.js";
import { ratesSchema } from "../../check/limit-schemas.js";
import { withoutInnerNulls, withoutNulls } from "../../check/plain-data.js";
import { freeText, idText } from "../../check/text-schemas.js";
import type { KeptRecord, RecordData, RecordStore } from "../record-store.js";
import { allRecords, changeRecord, subscriptionTo } from "../use-records.js";
import { keyAccount, keyCredits, keyEnabled, keyMetadata, keyModels, keyName, keyTags } from "./check-key.js";
import type { KeptKey, KeyChange, StoredKey, WritableKeyStore } from "./key-store.js";

/** What reaches the store as text, and what limits the key. */
const changeSchema = z.object({
  plan: idText().nullish(),
  name: keyName,
  enabled: keyEnabled,
  models: keyModels,
  metadata: keyMetadata,
  credits: keyCredits,
  rates: ratesSchema,
  tags: keyTags,
  account: keyAccount.optional(),
});
const keySchema = changeSchema.extend({
  id: idText(),
  hash: idText(),
  account: keyAccount,
  hint: freeText(200),
  lineage: idText().nullish(),
});

/**
 * Keys among these records, by their ids and hashes. No text reaches the store that it could take for another one: to write
 * such a text throws a TypeError that begins with `by`, to look for one finds nothing. What is written has no `null`. Lists
 * are in the order of the contract.
 */
export function recordKeyStore(by: string, records: RecordStore): WritableKeyStore {
  const read = async (name: "id" | "alias", text: string): Promise<KeptKey | undefined> => {
    const [record] = idProblem(text) === undefined ? await records.get("key", name, [text]) : [];
    return record && toKey(record);
  };
  return {
    ...subscriptionTo(records, "key"),
    find: (hash) => read("alias", hash),
    get: (id) => read("id", id),
    async list(account) {
      return idProblem(account) === undefined ? byAge((await allRecords(records, "key", account)).map(toKey)) : [];
    },
    async insert(key) {
      checkInput(`${by}.insert: the key is not valid`, keySchema, key);
      if ((await records.put("key", recordOfKey(key), { expected: null })) === "put") return;
      throw new Error(`${by}.insert: the id ${key.id}, or the hash with it, is taken.`);
    },
    async update(id, change) {
      checkInput(`${by}.update: the key is not valid`, changeSchema, change);
      if (idProblem(id) !== undefined) return undefined;
      const given = withoutInnerNulls(change);
      const changed = await changeRecord(
        records,
        "key",
        id,
        (found) => found && recordOfKey(changeKey(JSON.parse(found.text), given)),
      );
      return changed && toKey(changed);
    },
    touch: (uses) => records.touch("key", uses.filter(isUse)),
    forget: async (account) => (idProblem(account) === undefined ? records.clear("key", account) : []),
  };
}

/** Nothing else is kept: not the key itself either, if a caller has it in the same object. */
const fixed = ["id", "hash", "hint", "createdAt", "lineage", "lastUsedAt"] as const;
const changeable = [
  ...(["account", "plan", "name", "expiresAt", "revokedAt", "enabled", "models", "anchor", "metadata"] as const),
  ...(["credits", "rates", "tags"] as const),
] as const satisfies readonly (keyof KeyChange)[];

export function recordOfKey(key: StoredKey): RecordData {
  const members = Object.fromEntries([...fixed, ...changeable].map((name) => [name, key[name]]));
  return { id: key.id, owner: key.account, alias: key.hash, text: JSON.stringify(withoutNulls(members)) };
}

/** The later of the use that the key was inserted with and what it was touched with. */
function toKey({ text, usedAt }: KeptRecord): KeptKey {
  const key: KeptKey = JSON.parse(text);
  return usedAt === null ? key : { ...key, lastUsedAt: Math.max(usedAt, key.lastUsedAt ?? usedAt) };
}

/** The key as {@link WritableKeyStore.update} leaves it. Its revocation is never later than it is already. */
function changeKey(key: StoredKey, change: KeyChange): StoredKey {
  const given = changeable.flatMap((name) => (change[name] === undefined ? [] : [[name, change[name]] as const]));
  const changed: StoredKey = { ...key, ...Object.fromEntries(given) };
  if (typeof key.revokedAt !== "number" || typeof changed.revokedAt !== "number") return changed;
  return { ...changed, revokedAt: Math.min(key.revokedAt, changed.revokedAt) };
}

/** Databases order texts in ways of their own, and by none that makes a difference between keys of one millisecond. */
function byAge(keys: readonly KeptKey[]): readonly KeptKey[] {
  return keys.toSorted((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
}

/** No other can be of a key that is there. */
function isUse({ id, at }: { id: string; at: number }): boolean {
  return idProblem(id) === undefined && Number.isSafeInteger(at);
}
