import type { Mutation } from "../mutation/mutation.js";

/** Of refusals that are remembered. */
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
];
