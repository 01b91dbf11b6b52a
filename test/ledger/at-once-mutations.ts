import type { Mutation } from "../mutation/mutation.js";

/** Of the ledger in memory, as calls use it. */
export const mutations: readonly Mutation[] = [
  {
    name: "a settlement passes a method by that the host has replaced",
    find: "own?.methods.settle === ledger.settle",
    replace: "own !== undefined",
    test: "at-once",
  },
  {
    name: "a reservation passes a method by that the host has replaced",
    find: "own?.methods.reserve === ledger.reserve",
    replace: "own !== undefined",
    test: "at-once",
  },
  {
    name: "a release passes a method by that the host has replaced",
    find: "own?.methods.release === ledger.release",
    replace: "own !== undefined",
    test: "at-once",
  },
  {
    name: "a session that has ended is shown as open",
    find: "return this.#now < session.end ? session : undefined;",
    replace: "return session;",
    test: "live-states",
  },
  {
    name: "a window without a limit counts as one without credits",
    find: "if (limitMicro === null) return Number.POSITIVE_INFINITY;\n  return instance",
    replace: "if (limitMicro === null) return 0;\n  return instance",
    test: "live-states",
  },
];
