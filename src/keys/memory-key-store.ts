import { hashKey } from "./hash-key.js";
import type { ApiKey, KeyStore } from "./key-store.js";

/** A key in configuration: what {@link ApiKey} says, and the key itself or its hash. */
export type MemoryKey = Omit<ApiKey, "id"> & {
  /** Default: `key_` and the first twelve digits of the hash. */
  id?: string;
} & (
    | { /** The key itself. Only its hash is kept. */ key: string; hash?: undefined }
    | { /** See {@link hashKey}. */ hash: string; key?: undefined }
  );

const members: readonly string[] = ["id", "account", "plan", "expiresAt", "revokedAt", "models", "anchor"];

/**
 * API keys from configuration, kept in memory by their hashes.
 * @throws TypeError when a key is malformed or appears twice; the message does not contain it.
 */
export function memoryKeyStore(keys: readonly MemoryKey[]): KeyStore {
  if (!Array.isArray(keys)) {
    throw new TypeError(
      'memoryKeyStore: pass a list of keys, such as [{ key: "sk-…", account: "acct_1", plan: "pro" }].',
    );
  }
  const byHash = new Map<string, ApiKey>();
  for (const [index, entry] of keys.entries()) {
    const { key, hash: givenHash, ...rest } = entry;
    const fail = (problem: string): never => {
      throw new TypeError(`memoryKeyStore: keys[${index}] ${problem}`);
    };
    if (key !== undefined && (typeof key !== "string" || !/^[A-Za-z0-9._~+/=-]+$/.test(key))) {
      fail("must have a `key` of letters, digits and ._~+/=- only: others cannot be sent as a bearer token.");
    }
    if (key === undefined && !/^[0-9a-f]{64}$/.test(givenHash ?? "")) {
      fail("must have a `key`, or a `hash` of 64 lower-case hexadecimal digits as hashKey() makes it.");
    }
    if (typeof rest.account !== "string" || rest.account === "") fail("must name its `account`.");
    if (typeof rest.plan !== "string" || rest.plan === "") fail("must name its `plan`.");
    const unknown = Object.keys(rest).find((name) => !members.includes(name));
    if (unknown !== undefined) fail(`has an unknown member: \`${unknown}\`.`);
    for (const name of ["expiresAt", "revokedAt", "anchor"] as const) {
      const instant = rest[name];
      if (instant !== undefined && instant !== null && Number.isNaN(new Date(instant).getTime())) {
        fail(`has an invalid date as its \`${name}\`.`);
      }
    }
    const hash = key === undefined ? (givenHash as string) : hashKey(key);
    if (byHash.has(hash)) fail("appears twice.");
    byHash.set(hash, { ...rest, id: rest.id ?? `key_${hash.slice(0, 12)}` });
  }
  return { find: (hash) => byHash.get(hash) };
}
