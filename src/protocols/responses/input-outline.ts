import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { absent, endOfValue, type JsonMember, type Scalar, skipSpace, valueAt } from "../../wire/json-members.js";
import { type MemberFault, MemberSearch } from "../../wire/member-search.js";
import type { Skips } from "../../wire/skip-table.js";
import type { SlicedWork } from "../../wire/slices.js";
import { itemContent, requireContent, requirePart } from "../shared/content-shape.js";
import { InnerMembers } from "../shared/inner-members.js";
import type { Span } from "../shared/message-outline.js";
import { typeAt, type UnknownPlaces } from "../shared/protocol-table.js";
import { misspelledName } from "../shared/request-names.js";
import { responsesTable } from "./responses-table.js";

/** The position of an item of a request's input, and of its parts. */
export interface InputItem extends Span {
  /** `message` also for a message without a `type`, which most clients send. */
  readonly type: string;
  /** The item's own id. For a reference, the id that it refers to. */
  readonly id: string | undefined;
  /** The values that can contain parts: `content` and `output`. */
  readonly contents: readonly Span[];
  /** The tools that the item adds. */
  readonly tools: Span | undefined;
  /** Content that only the server that made it can read. */
  readonly encrypted: Span | undefined;
  /** The result of a server's own tool, such as an image. */
  readonly result: Span | undefined;
  /** What an update says of the form of the answers after it. */
  readonly text: Span | undefined;
}

/** As many as the messages and parts that a chat can have. */
export const mostItems = 16_384;
const mostParts = 16_384;
/** The most members of one item or one part. */
const mostMembers = 1000;
const mostMembersInAll = 131_072;
/** No API has longer types or ids, in bytes. */
const longestName = 256;

const itemMembers = [
  "type",
  "id",
  "role",
  "content",
  "output",
  "call_id",
  "tools",
  "encrypted_content",
  "result",
  "text",
] as const;
const partMembers = ["type", "text"] as const;
const roles: readonly unknown[] = ["user", "assistant", "system", "developer"];

// Shared by all requests: the result of a search is read before the next search begins.
const inItem = new MemberSearch(itemMembers, mostMembers);
const inPart = new MemberSearch(partMembers, mostMembers);

/** Lists in an item whose parts are read one by one. */
const readApart: ReadonlySet<string> = new Set(["content", "output"]);

/** Items that have tools. */
const withTools: ReadonlySet<string> = new Set(["tool_search_output", "additional_tools", "mcp_list_tools"]);
const readWithTools: ReadonlySet<string> = new Set([...readApart, "tools"]);

/** Parts that nothing but text is in. */
const plainTexts: ReadonlySet<string> = new Set(["input_text", "output_text"]);

/** Items that contain a call or its output. The id of the call connects them. */
const paired: ReadonlySet<string> = new Set([
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
]);

/** Whether an item of this type has the id of a call. */
export function isPaired(type: string): boolean {
  return paired.has(type);
}

/** Walks through the items of an input and records positions. The text must be valid JSON. */
export class InputCheck implements SlicedWork {
  readonly items: InputItem[] = [];
  readonly #body: Uint8Array;
  readonly #skips: Skips;
  readonly #places: UnknownPlaces | undefined;
  readonly #inner: InnerMembers | undefined;
  #position: number;
  #parts = 0;
  #members = 0;

  /**
   * @param input - the array.
   * @param places - takes what does not simply pass.
   * @throws GatewayError 400 when it is no array.
   */
  constructor(body: Uint8Array, input: JsonMember, skips: Skips, places?: UnknownPlaces) {
    if (body[input.start] !== 0x5b) throw invalidType("input", "a string or an array of objects");
    this.#body = body;
    this.#skips = skips;
    this.#places = places;
    this.#inner = places && new InnerMembers(body, skips, responsesTable, places);
    this.#position = skipSpace(body, input.start + 1);
  }

  get position(): number {
    return this.#position;
  }

  /** @throws GatewayError 400 */
  run(stop: number): boolean {
    const body = this.#body;
    if (body[this.#position] === 0x5d) return true;
    while (this.#position < stop) {
      const next = skipSpace(body, this.#readItem(this.#position));
      if (body[next] !== 0x2c) return true;
      this.#position = skipSpace(body, next + 1);
    }
    return false;
  }

  /** @returns the offset after the item. */
  #readItem(start: number): number {
    const body = this.#body;
    const path = `input[${this.items.length}]`;
    if (this.items.length === mostItems) throw tooMany(`'input' must hold at most ${mostItems} items.`);
    if (body[start] !== 0x7b) throw invalidType(path, "an object");
    const fault = inItem.run(body, start, this.#skips);
    if (fault !== undefined) throw refused(fault, path, "An item");
    this.#countMembers(inItem.count);
    const { end } = inItem;
    const id = this.#textOf("id", path);
    const role = this.#textOf("role", path);
    const type = this.#textOf("type", path) ?? (role === undefined && id !== undefined ? "item_reference" : "message");
    this.#requireKeys(type, { id, role }, path);
    const [content, output, tools] = [this.#spanOf("content"), this.#spanOf("output"), this.#spanOf("tools")];
    this.items.push({
      start,
      end,
      type,
      id,
      contents: [content, output].filter((span) => span !== undefined),
      tools,
      encrypted: this.#spanOf("encrypted_content"),
      result: this.#spanOf("result"),
      text: type === "configuration_update" ? this.#spanOf("text") : undefined,
    });
    this.#places?.note("item", type, () => path);
    const hasTools = withTools.has(type);
    if (inItem.structured > 0) this.#inner?.readObject(start, () => path, hasTools ? readWithTools : readApart);
    if (hasTools && tools !== undefined) this.#inner?.readTools(tools.start, () => `${path}.tools`);
    if (output !== undefined) this.#places?.noteFile(body, output.start, this.#skips, () => `${path}.output`);
    const isMessage = type === "message";
    if (isMessage && content !== undefined) requireContent(this.#body[content.start], itemContent, `${path}.content`);
    this.#readParts(content, `${path}.content`, isMessage);
    this.#readParts(output, `${path}.output`, false);
    return end;
  }

  #requireKeys(type: string, { id, role }: { id?: string | undefined; role?: string | undefined }, path: string): void {
    if (type === "message") {
      if (role === undefined) throw missingParameter(`${path}.role`);
      if (!roles.includes(role)) {
        throw invalidValue(`${path}.role`, `'${path}.role' must be 'user', 'assistant', 'system' or 'developer'.`);
      }
      if (inItem.starts[itemMembers.indexOf("content")] === absent) throw missingParameter(`${path}.content`);
    }
    if (type === "item_reference" && id === undefined) throw missingParameter(`${path}.id`);
    if (isPaired(type) && this.#textOf("call_id", path) === undefined) throw missingParameter(`${path}.call_id`);
  }

  /** @param areObjects - whether nothing else may stand in the list. */
  #readParts(content: Span | undefined, path: string, areObjects: boolean): void {
    const body = this.#body;
    if (content === undefined || body[content.start] !== 0x5b) return;
    let at = skipSpace(body, content.start + 1);
    for (let index = 0; body[at] !== 0x5d; index++) {
      if (++this.#parts > mostParts) throw tooMany(`'input' must hold at most ${mostParts} content parts together.`);
      let end: number;
      if (body[at] === 0x7b) {
        const fault = inPart.run(body, at, this.#skips);
        if (fault !== undefined) throw refused(fault, `${path}[${index}]`, "A content part");
        this.#countMembers(inPart.count);
        end = inPart.end;
        const isStructured = inPart.structured > 0;
        if (this.#places !== undefined) this.#notePart(this.#places, at, `${path}[${index}]`);
        if (isStructured) this.#inner?.readObject(at, () => `${path}[${index}]`);
      } else {
        if (areObjects) requirePart(body[at], itemContent, `${path}[${index}]`);
        end = endOfValue(body, at, this.#skips);
      }
      at = skipSpace(body, end);
      if (body[at] !== 0x2c) return;
      at = skipSpace(body, at + 1);
    }
  }

  #notePart(places: UnknownPlaces, start: number, path: string): void {
    const type = inPart.starts[0] ?? absent;
    const name = typeAt(this.#body, type, inPart.ends[0] ?? 0);
    if (name === undefined || plainTexts.has(name)) return;
    places.note("block", name, () => path);
    places.noteFile(this.#body, start, this.#skips, () => path);
  }

  #countMembers(count: number): void {
    this.#members += count;
    if (this.#members <= mostMembersInAll) return;
    throw tooMany(`The items and parts of 'input' must have at most ${mostMembersInAll} members together.`);
  }

  #spanOf(name: (typeof itemMembers)[number]): Span | undefined {
    const place = itemMembers.indexOf(name);
    const start = inItem.starts[place] ?? absent;
    return start === absent ? undefined : { start, end: inItem.ends[place] ?? start };
  }

  /** `undefined` when the member is absent or `null`. */
  #textOf(name: (typeof itemMembers)[number], path: string): string | undefined {
    const span = this.#spanOf(name);
    if (span === undefined) return undefined;
    const { start, end } = span;
    if (end - start > longestName) throw invalidValue(`${path}.${name}`, `'${name}' is longer than any is.`);
    const value: Scalar | undefined = valueAt(this.#body, { start, end });
    if (value === null) return undefined;
    if (typeof value !== "string") throw invalidType(`${path}.${name}`, "a string");
    return value;
  }
}

function tooMany(message: string): GatewayError {
  return new GatewayError(message, { status: 400, code: "array_above_max_length", param: "input" });
}

function refused({ reason, name, meant }: MemberFault, path: string, what: string): GatewayError {
  if (reason === "too_many") return invalidValue(path, `${what} has more than ${mostMembers} members.`);
  if (reason === "twice") return invalidValue(`${path}.${meant}`, `'${meant}' appears twice.`);
  return misspelledName(name, meant, path);
}
