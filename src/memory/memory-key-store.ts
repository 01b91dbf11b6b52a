import { tooLargeLimits, tooManyCredits } from "../check/credit-limit.js";
import { InputError } from "../check/input-error.js";
import { withoutNulls } from "../check/without-nulls.js";
import { messageOf } from "../host-code/thrown.js";
import { checkKey } from "../keys/check-key.js";
import { hashKey } from "../keys/hash-key.js";
import type { ApiKey, KeptKey, WritableKeyStore } from "../keys/key-store.js";
import { isMistypedKey, keyHint, managedPrefix } from "../keys/managed-key.js";
import { recordKeyStore, recordOfKey } from "../keys/record-key-store.js";
import { MemoryRecordStore } from "./memory-record-store.js";

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
  const records = new MemoryRecordStore();
  const createdAt = Date.now();
  for (const [index, entry] of keys.entries()) {
    const key = toStoredKey(entry, index, createdAt);
    if (records.add("key", recordOfKey(key))) continue;
    fail(index, records.hasAlias("key", key.hash) ? "appears twice." : "has the `id` of another key.");
  }
  return {
    ...recordKeyStore("memoryKeyStore", records),
    withoutPlan() {
      const kept = records.texts("key").map((text): KeptKey => JSON.parse(text));
      return kept.flatMap(({ id, plan }) => (plan === undefined ? id : []));
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
