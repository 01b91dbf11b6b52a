import type { Mutation } from "../mutation/mutation.js";

export const mutations: readonly Mutation[] = [
  // The check in WebAssembly
  {
    name: "what a window had before stands behind it",
    find: "  bytes.fill(0, windowAt + end",
    replace: "  bytes.fill(0, windowAt + end + 1",
  },
  { name: "a token is cut off by a window", find: "isLast ? end : end - longestToken", replace: "end" },
  { name: "an escape is cut off by a window", find: "isLast ? end : end - longestEscape", replace: "end" },
  {
    name: "the levels of another check are taken over",
    find: "    bytes[kindsAt + level] = stack",
    replace: "    void stack",
  },
  {
    name: "the beginnings of levels are lost",
    find: "    numbers[offsetsAt / 4 + level] = stack",
    replace: "    void stack",
  },
  { name: "another check closes what is open", find: "      saveLevels(vectors, state);\n", replace: "" },
  {
    name: "a fault inside a string is reported at its beginning",
    find: "state.inString < 0 ? state.position : state.inString",
    replace: "state.position",
  },
  {
    name: "a number that only the loop can judge passes",
    find: "checkByLoop(state, state.position + 1);",
    replace: "state.position++;",
  },
  {
    name: "a text may end in a string",
    find: 'if (inString >= length) state.fault = { reason: "syntax", at: length };',
    replace: "if (inString >= length) return true;",
  },

  // Long texts in pieces
  {
    name: "a piece overtakes what was written before it",
    find: "    this.#gather();\n    this.#pieces.push(bytes);",
    replace: "    this.#pieces.push(bytes);",
    test: "edited-bytes",
  },
  {
    name: "the end of a text in pieces is lost",
    find: "  finish(): readonly Uint8Array[] {\n    this.#gather();",
    replace: "  finish(): readonly Uint8Array[] {",
    test: "edited-bytes",
  },
  {
    name: "what was replaced stays",
    find: "Buffer.from(text)]), source.subarray(end)]",
    replace: "Buffer.from(text)]), source.subarray(start)]",
    test: "edited-bytes",
  },
];
