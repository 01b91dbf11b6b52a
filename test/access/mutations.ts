import type { Mutation } from "../mutation/mutation.js";

/** Of what is worked out once for a caller and a model. */
export const mutations: readonly Mutation[] = [
  {
    name: "an account's models restrict nobody",
    find: "if (caller.accountModels !== undefined && !caller.accountModels.has(modelId)) return false;",
    replace: "",
    test: "account-models",
  },
  {
    name: "a key keeps what its plan has lost",
    find: "last !== undefined && last.allowance === found &&",
    replace: "last !== undefined &&",
    test: "entitlement",
  },
  {
    name: "a key keeps a model that the catalog has lost",
    find: "&& last.model === catalog.get(name);",
    replace: ";",
    test: "entitlement",
  },
  {
    name: "a caller keeps the terms that its account has lost",
    find: "if (last?.account === account) return last.caller;",
    replace: "if (last !== undefined) return last.caller;",
    test: "caller-resolver",
  },
  {
    name: "all that is left may be held without counting",
    find: "return left * part - held;",
    replace: "return left - held;",
    test: "hold-room",
  },
  {
    name: "what one call has taken of the room is there for the next",
    find: "    this.#micro -= micro;\n",
    replace: "",
    test: "hold-room",
  },
  {
    name: "what is on its way to the ledger holds nothing",
    find: " - this.#underWay;",
    replace: ";",
    test: "hold-room",
  },
  {
    name: "an account with prepaid credits holds without counting",
    find: "prepaid === undefined ? roomIn(windows)",
    replace: "true ? roomIn(windows)",
    test: "hold-room",
  },
];
