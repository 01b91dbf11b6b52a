import type { Mutation } from "../mutation/mutation.js";

/** Of refusals that are remembered, and of bodies that are read. */
export const mutations: readonly Mutation[] = [
  {
    name: "a denial is remembered beyond its second",
    find: "last?.seconds === seconds && isSame(last.result, result)",
    replace: "last !== undefined && isSame(last.result, result)",
    test: "repeated-denial",
  },
  {
    name: "a denial is remembered whatever was used since",
    find: "last?.seconds === seconds && isSame(last.result, result)",
    replace: "last?.seconds === seconds",
    test: "repeated-denial",
  },
  {
    name: "the beginning of a large piece is given back in place of its rest",
    find: "this.#rest === undefined ? piece : Buffer.concat([piece, this.#rest])",
    replace: "piece",
    test: "guarded/held-streams",
  },
  {
    name: "a body that another reads, too, is nobody's failure",
    find: "      this.breakOff(error);",
    replace: "      throw error;",
    test: "stream-relay",
  },
];
