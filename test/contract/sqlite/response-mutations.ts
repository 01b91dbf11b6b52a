import type { Mutation } from "../../meta/mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "another account's response is found",
    find: "SELECT * FROM infergate_response WHERE account = ? AND id = ? AND put_at > ?",
    replace: "SELECT * FROM infergate_response WHERE account >= ? AND id = ? AND put_at > ?",
  },
  {
    name: "an item of another account's response is found",
    find: "WHERE item.account = ? AND item.id = ?",
    replace: "WHERE item.account <> ? AND item.id = ?",
  },
  {
    name: "an item of a response that has expired is found",
    find: "AND kept.put_at > ?",
    replace: "AND kept.put_at > 0 * ?",
  },
  { name: "an older response's item is found", find: "ORDER BY item.response DESC", replace: "ORDER BY item.response" },
  {
    name: "the first item of a response is found",
    find: "item.position DESC LIMIT 1",
    replace: "item.position LIMIT 1",
  },
  { name: "a response is kept twice", find: "    tables.delete(account, id, Number.MIN_SAFE_INTEGER);\n", replace: "" },
  { name: "a response that is too large is kept", find: "if (bytes > maxAccountBytes) return;", replace: "" },
  {
    name: "responses of an account have no bound",
    find: "while (tables.bytesOf(account) > maxAccountBytes &&",
    replace: "while (false &&",
  },
  {
    name: "deleted responses count on",
    find: "this.#addBytes.run(account, -toNumber(bytes));",
    replace: "",
  },
  { name: "items outlive their response", find: "this.#deleteItems.run(toNumber(sequence));", replace: "" },
  { name: "an account outlives its responses", find: "this.#deleteEmpty.run(account);", replace: "" },
  { name: "no response expires", find: "clock.now() - ttlMs", replace: "-ttlMs" },
  {
    name: "responses that have expired stay in the table",
    find: "    tables.deleteExpired(expiredUntil(), rowsPerPut);\n",
    replace: "",
  },
  { name: "all that has expired goes at once", find: "const rowsPerPut = 8;", replace: "const rowsPerPut = 8_000;" },
  {
    name: "only some responses of an account are forgotten",
    find: "while ((await write(deleteSome)) === rowsPerForgetting) await setImmediate();",
    replace: "await write(deleteSome); await setImmediate();",
  },
  {
    name: "a chain of responses has no end",
    find: "next !== undefined && found.length < most;",
    replace: "next !== undefined;",
    part: "sqlite-response-store",
  },
];

export const responseMutations: readonly Mutation[] = lines.map((line) => ({
  ...line,
  test: ["sqlite-response-store", "sqlite-stores"],
}));
