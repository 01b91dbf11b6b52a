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

  // Skips over long values
  {
    name: "a leap from one value is that of another nearby",
    find: "if (values[at] === start) return",
    replace: "return",
    test: "skip-table",
  },
  {
    name: "the value before, in the same part of the text, is lost",
    find: "values[at + 2] = this.#lastOf[stretch] as number;",
    replace: "values[at + 2] = 0;",
    test: "skip-table",
  },
  {
    name: "what was noted is lost when more room is needed",
    find: "    larger.set(this.#values);\n",
    replace: "",
    test: "skip-table",
  },

  // Events that are read without a reader
  {
    name: "an event of several lines of data has the first alone",
    find: "if (event.indexOf(lineFeed, start) !== end || event[end + 1] !== lineFeed) return undefined;",
    replace: "",
    test: "plain-event",
  },
  {
    name: "a return within an event ends no line",
    find: "return event.includes(carriageReturn) ? undefined : event.subarray(start, end);",
    replace: "return event.subarray(start, end);",
    test: "plain-event",
  },
  {
    name: "an empty name is a name",
    find: "event: name || undefined",
    replace: "event: name",
    test: "plain-event",
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
