import type { Mutation } from "../../meta/mutation/mutation.js";

/** Rules of keys, which hold in every store. */
export const keyRules: readonly Mutation[] = [
  {
    name: "a revocation is put off",
    find: "Math.min(key.revokedAt, changed.revokedAt)",
    replace: "changed.revokedAt",
  },
  {
    name: "a key that is there is made anew",
    find: 'records.put("key", recordOfKey(key), { expected: null })',
    replace: 'records.put("key", recordOfKey(key), {})',
  },
  {
    name: "a use replaces a later one",
    find: "Math.max(usedAt, key.lastUsedAt ?? usedAt)",
    replace: "usedAt",
  },
  {
    name: "keys are listed in the order of their ids",
    find: "one.createdAt - other.createdAt || ",
    replace: "",
  },
];

/** Rules of accounts. */
export const accountRules: readonly Mutation[] = [
  {
    name: "a change of plan lifts a suspension",
    find: "return { ...account, status: earlier?.status, message: earlier?.message };",
    replace: "return account;",
  },
  {
    name: "a put heeds no version",
    find: '        requireVersion("put", account.id, found, expected);\n',
    replace: "",
  },
  {
    name: "an update heeds no version",
    find: '        requireVersion("update", id, found, expected);\n',
    replace: "",
  },
  {
    name: "an account that is not there is updated",
    find: "        if (found === undefined) return undefined;\n",
    replace: '        found ??= { id, text: "{}", usedAt: null };\n',
  },
];

/** What all stores of records do with a database. */
export const recordUses: readonly Mutation[] = [
  {
    name: "a change that came meanwhile is lost",
    find: "{ expected: earlier?.text ?? null }",
    replace: "{}",
  },
  {
    name: "a page has no next one",
    find: "found.length > limit && last !== undefined",
    replace: "found.length > limit + 1 && last !== undefined",
  },
];
