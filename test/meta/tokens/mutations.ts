import type { Mutation } from "../mutation/mutation.js";

/** Of texts that are sampled together. */
export const mutations: readonly Mutation[] = [
  {
    name: "the first of several texts stands for all",
    find: "      scan = new TokenScan(text, isJson);\n",
    replace: "",
  },
  {
    name: "a text is read at a place of another",
    find: "      start -= text.length;\n",
    replace: "",
  },
  {
    name: "where a text begins is forgotten",
    find: "      from += text.length;\n",
    replace: "",
  },
];
