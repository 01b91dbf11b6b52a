import type { Mutation } from "../../meta/mutation/mutation.js";

const test = "isolate";

export const isolateMutations: readonly Mutation[] = [
  {
    name: "requests of an isolate share statements",
    find: "? new SingleOperations(run)",
    replace: "? new AccountQueue(run, bounds)",
    test,
  },
  {
    name: "requests of an isolate wait for one migration",
    find: "if (this.isolate) {",
    replace: "if (false) {",
    test,
  },
  {
    name: "an isolate drops what is too old behind operations",
    find: "if (!this.#database.isolate) this.#purger.touch();",
    replace: "this.#purger.touch();",
    test,
  },
  { name: "an isolate listens", find: "listen && !isolate &&", replace: "listen &&", test },
];
