import type { Mutation } from "../../meta/mutation/mutation.js";

export const mutations: readonly Mutation[] = [
  {
    name: "a commit is for any version",
    find: "(commit.expected !== undefined && commit.expected !== version) ||",
    replace: "",
  },
  {
    name: "a commit stands on any record",
    find: "[...commit.requires].some(([name, stamp]) => records.get(name)?.stamp !== stamp) ||",
    replace: "",
  },
  {
    name: "accounts are not locked",
    find: "for update /*M!",
    replace: "--",
  },
  {
    name: "a row that somebody keeps holds up other accounts",
    find: "if (error instanceof KeptRow) {",
    replace: "if (error instanceof TypeError) {",
  },
  {
    name: "an account is read before it is locked for a decision",
    find: "await lockAccounts(connection, prefix, [asked.account]);\n      for",
    replace: "for",
  },
  {
    name: "what came of a commit is taken for nothing",
    find: "      state.isCommitting = true;\n",
    replace: "",
  },
  {
    name: "a deadlock is final",
    find: "new Set([deadlock, lockTimeOut, duplicateKey])",
    replace: "new Set([lockTimeOut, duplicateKey])",
  },
  {
    name: "a connection that ends is final",
    find: "transient.has(errno) || isLost(error)",
    replace: "transient.has(errno)",
  },
  {
    name: "a connection that says nothing is waited for",
    find: "nestTables: false, timeout }",
    replace: "nestTables: false, timeout: 600_000 }",
  },
  {
    name: "two accounts with one id fail each other",
    find: "if (!isDuplicate(error) || commits.length === 1) throw error;",
    replace: "if (error) throw error;",
  },
  {
    name: "a pool may read what was",
    find: "clock === undefined || clock[8] !== 1",
    replace: "clock === undefined",
  },
  {
    name: "tables of a newer release are used",
    find: "if (version > newestVersion) {",
    replace: "if (version > newestVersion + 1) {",
  },
  {
    name: "the next hold is sought among all",
    find: "as next force index (due)",
    replace: "as next ignore index (due)",
  },
  {
    name: "a hold that has gone is still due",
    find: "next.name not in",
    replace: "next.name in",
  },
  {
    name: "records of other owners are listed",
    find: " and owner = ",
    replace: " and owner >= ",
  },
  {
    name: "a record is listed twice",
    find: " and id > ",
    replace: " and id >= ",
  },
  {
    name: "a record that is not as expected is replaced",
    find: "isOthers || (expected !== undefined && expected !== earlier)",
    replace: "isOthers",
  },
  {
    name: "an alias is given away",
    find: "if (isOthers || (expected",
    replace: "if ((expected",
  },
  {
    name: "there may be any number of records",
    find: "if (Number(row?.[0]) >= most)",
    replace: "if (Number(row?.[0]) > most)",
  },
  {
    name: "an earlier use replaces a later one",
    find: "set kept.used_at = greatest(coalesce(kept.used_at, 0), cast(used.at as signed))",
    replace: "set kept.used_at = cast(used.at as signed)",
  },
  {
    name: "a record is removed whatever is expected",
    find: 'const isSame = expected === undefined ? "" :',
    replace: 'const isSame = expected !== "" ? "" :',
  },
];
