import type { Mutation } from "../../mutation/mutation.js";

export const answers: readonly Mutation[] = [
  {
    name: "a usage is written from its outline",
    find: "if (isReplaced && gaps.some((gap) => gap >= start && gap < end)) answer.isTooLittle = true;",
    replace: "if (isReplaced && gaps.length < 0) answer.isTooLittle = true;\n    void [start, end];",
  },
  {
    name: "lists are left out as texts are",
    find: "if (source[start] !== 0x22) continue;",
    replace: "if (start < from) continue;",
  },
  {
    name: "a broken answer has an outline",
    find: "if (this.#check?.fault !== undefined) return undefined;",
    replace: "",
  },
];

export const prompts: readonly Mutation[] = [
  {
    name: "a prompt is bounded by one token for a byte",
    find: "const mostTokensPerByte = 2;",
    replace: "const mostTokensPerByte = 1;",
  },
];
