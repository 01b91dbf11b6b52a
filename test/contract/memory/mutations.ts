import type { Mutation } from "../../meta/mutation/mutation.js";
import { bookMutations } from "./book-mutations.js";

/** Of the stores of responses and of records. */
export const mutations: readonly Mutation[] = [
  ...bookMutations,
  {
    name: "a record is listed twice",
    find: 'if ((sorted[middle] ?? "") <= text) from',
    replace: 'if ((sorted[middle] ?? "") < text) from',
    test: "memory-stores",
  },
  {
    name: "a new record is not listed",
    find: "    shelf.ids.add(id);\n    shelf.sorted = undefined;\n",
    replace: "    shelf.ids.add(id);\n",
    test: "memory-stores",
  },
  {
    name: "a record that has changed is replaced",
    find: '    if (expected !== undefined && expected !== (earlier?.text ?? null)) return "unexpected";\n',
    replace: "",
    test: "memory-stores",
  },
  {
    name: "a removed record is not announced",
    find: "    this.#kinds[kind].notices.tell(noticeOf(kind, entry));\n",
    replace: "",
    test: "memory-stores",
  },
  { name: "no response expires", find: "return now - putAt < this.#limits.ttlMs;", replace: "return true;" },
  {
    name: "a response expires late",
    find: "return now - putAt < this.#limits.ttlMs;",
    replace: "return now - putAt <= this.#limits.ttlMs;",
  },
  { name: "a response is kept twice", find: "    this.delete(response.account, response.id, now);\n", replace: "" },
  { name: "a response that is too large is kept", find: "if (shelved.bytes > maxBytes) return;", replace: "" },
  { name: "an account has no bound in bytes", find: "(shelf.bytes > maxBytes || shelf", replace: "(shelf" },
  { name: "an account has no bound in number", find: " || shelf.size > maxResponses)", replace: ")" },
  {
    name: "an account's only response goes",
    find: "while (shelf.size > 1 && (shelf",
    replace: "while (shelf.size > 0 && (shelf",
  },
  { name: "all have no bound in bytes", find: "while (this.#bytes > this.#limits.maxBytes || ", replace: "while (" },
  { name: "all have no bound in number", find: " || this.#inOrder.size > this.#limits.maxResponses)", replace: ")" },
  { name: "what is gone counts on", find: "    this.#bytes -= shelved.bytes;\n", replace: "" },
  { name: "what is gone counts on for its account", find: "    this.#bytes -= response.bytes;\n", replace: "" },
  { name: "what is gone stays in the order", find: "    this.#inOrder.delete(shelved);\n", replace: "" },
  { name: "items outlive their response", find: "holders.splice(holders.indexOf(response), 1);", replace: "" },
  { name: "another response's item goes", find: "holders.indexOf(response)", replace: "0" },
  {
    name: "an older response's item is found",
    find: "this.#holders.get(itemId)?.at(-1)",
    replace: "this.#holders.get(itemId)?.at(0)",
  },
  {
    name: "callers change what is kept",
    find: "Object.freeze(list.map(({ id, json }) => Object.freeze({ id, json })))",
    replace: "list",
  },
  { name: "a chain has no end", find: "next !== undefined && found.length < most;", replace: "next !== undefined;" },
];
