import type { Mutation } from "../mutation/mutation.js";

/** Of error responses that are written once. */
export const mutations: readonly Mutation[] = [
  {
    name: "the headers of one client's error are those of the next one",
    find: "headers: { ...headers },",
    replace: "headers: headers as Record<string, string>,",
    test: "repeated-errors",
  },
];
