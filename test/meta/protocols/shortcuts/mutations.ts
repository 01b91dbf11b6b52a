import type { Mutation } from "../../mutation/mutation.js";

/** Of what passes events on without parsing them. */
export const templates: readonly Mutation[] = [
  {
    name: "very many members are compared with each other",
    find: "members.length <= mostMembers && ",
    replace: "",
  },
  {
    name: "an event is passed that ends otherwise",
    find: "if (!isFollowed && !stands(tail, bytes, position)) break;",
    replace: "",
  },
  {
    name: "an event is passed that differs between its places",
    find: "if (!stands(literal, bytes, position)) return false;",
    replace: "",
  },
  {
    name: "a text with escapes of other writers is passed",
    find: "    case 0x62:\n",
    replace: "    case 0x2f:\n    case 0x75:\n    case 0x62:\n",
    part: "event-template",
  },
  {
    name: "a number with a zero before it is passed",
    find: "if (position === start || isLeadingZero) return -1;",
    replace: "if (position === start) return -1;",
  },
  {
    name: "what goes to the client otherwise is passed as it came",
    find: "this.#isSame = received.equals(sent) && !this.#sources.includes(-1);",
    replace: "this.#isSame = !this.#sources.includes(-1);",
  },
];

export const chat: readonly Mutation[] = [
  {
    name: "reasoning is passed that nobody has seen to be some",
    find: 'if (text.name !== "content" && text.end - text.start === emptyText) return undefined;',
    replace: "",
  },
];

export const responses: readonly Mutation[] = [
  {
    name: "the number of a passed event is forgotten",
    find: "this.count = number < 0 ? this.count + 1 : number;",
    replace: "",
  },
  {
    name: "an error is passed on that is long",
    find: " || isError(event, name) || failureIn(event) !== undefined) return true;",
    replace: ") return true;",
  },
  {
    name: "an item is passed whose texts nobody has counted",
    find: 'type === "response.output_item.done" && this.#grown.has(index)',
    replace: 'type === "response.output_item.done"',
  },
  {
    name: "a response is passed whose texts nobody has counted",
    find: "return !isRecord(response) || !this.progress.hasOutput;",
    replace: "return !isRecord(response);",
  },
  {
    name: "what takes the place of a member lacks its long texts",
    find: " || lacksWhatIsRead(outline)",
    replace: "",
  },
  {
    name: "a long event is passed that ends otherwise",
    find: "if (source[jsonEnd - 1] !== closeBrace || source[jsonEnd + 1] !== lineFeed) return undefined;",
    replace: "",
  },
];

export const messages: readonly Mutation[] = [
  {
    name: "a passed delta counts no output",
    find: "this.#progress.textCame(bytes, text, escapes);",
    replace: "",
    part: "message-stream",
  },
  {
    name: "a passed delta does not begin a block again",
    find: "    this.#isBetweenBlocks = false;\n    this.#output.addEscaped",
    replace: "    this.#output.addEscaped",
  },
  {
    name: "an event with two texts makes a template",
    find: "more.length > 0 || !textMembers",
    replace: "!textMembers",
  },
];

export const translated: readonly Mutation[] = [
  {
    name: "a text is passed into a part of the answer that has ended",
    find: "    this.shortcut?.forget();\n",
    replace: "",
  },
  {
    name: "an event without text makes one for the client",
    find: "return textBytes > 0 && textBytes <= mostText;",
    replace: "return textBytes <= mostText;",
  },
  {
    name: "a text that was passed is not in what ends the stream",
    find: "    this.#sink.textWent?.(textOf(bytes, text, escapes));\n",
    replace: "",
  },
  {
    name: "escapes of a text that was passed stand in what ends the stream",
    find: "return escapes === 0",
    replace: "return escapes >= 0",
  },
  {
    name: "the role of the first chunk is passed on with each",
    find: "contentOfChunk(sent, false)",
    replace: "contentOfChunk(sent, true)",
  },
];
