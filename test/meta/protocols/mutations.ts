import type { Mutation } from "../mutation/mutation.js";

export const mutations: readonly Mutation[] = [
  {
    name: "tokens are estimated by an outline",
    find: "(answer.estimated && !reader.needsNoTexts) || outline.isTooLittle",
    replace: "outline.isTooLittle",
  },
  {
    name: "an id is made of a text that is left out",
    find: "isLeftOut(answer.responseId) || isLeftOut(answer.finishReason)",
    replace: "isLeftOut(answer.finishReason)",
  },
  {
    name: "a finish reason is a text that is left out",
    find: "isLeftOut(answer.responseId) || isLeftOut(answer.finishReason)",
    replace: "isLeftOut(answer.responseId)",
  },
  {
    name: "of a member that comes twice, one is searched",
    find: " || (place !== absent && this.starts[place] !== absent)",
    replace: "",
    test: "chat/plain-completion",
  },
  {
    name: "a name with escapes is another name",
    find: "if (bytes[at] === backslash) return unclear;",
    replace: "void bytes[at];",
    test: "chat/plain-completion",
  },
  {
    name: "a broken completion is searched",
    find: "findJsonFault(bytes, mostDepth) !== undefined || ",
    replace: "",
    test: "chat/plain-completion",
  },
  {
    name: "what a usage says beside its totals is passed over",
    find: "search.hasDetails || context.dialect",
    replace: "context.dialect",
    test: "chat/plain-completion",
  },
  {
    name: "what a dialect hides of a usage is shown",
    find: "search.hasDetails || context.dialect?.hiddenUsage !== undefined",
    replace: "search.hasDetails",
    test: "chat/plain-completion",
  },
  {
    name: "an error within a choice is passed over",
    find: "    startOf(ownError) === absent &&\n",
    replace: "",
    test: "chat/plain-completion",
  },
  {
    name: "calls of tools are taken to be whole",
    find: "    !hasToolCalls(bytes) &&\n",
    replace: "",
    test: "chat/plain-completion",
  },
  {
    name: "of several choices, one is searched",
    find: "return bytes[close] === closeBracket ? close + 1 : absent;",
    replace: "return endOfValue(bytes, value) + 0 * close;",
    test: "chat/plain-completion",
  },
  {
    name: "a text that comes again is another one of its length",
    find: "let json = this.#written.get(text);",
    replace: "let json = [...this.#written].find(([known]) => known.length === text.length)?.[1];",
    test: "responses/response-events",
  },
  {
    name: "a member without a value is written",
    find: "      if (value === undefined) continue;\n      text += ",
    replace: "      text += ",
    test: "responses/response-events",
  },
];
