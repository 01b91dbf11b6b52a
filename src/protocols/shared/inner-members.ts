import { GatewayError } from "../../errors/gateway-error.js";
import {
  absent,
  endOfValue,
  familiarName,
  type JsonMember,
  memberOf,
  nameAt,
  skipSpace,
  skipString,
} from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import type { Skips } from "../../wire/skip-table.js";
import type { JsonRequest } from "./json-request.js";
import { type Place, type ProtocolTable, type Row, typeAt, type UnknownPlaces } from "./protocol-table.js";

/** Far more objects and lists than honest requests have below the top level, beside texts. */
const mostValues = 65_536;

/** Objects and lists in each other, far more than honest requests have. Each level looks at the bytes of those in it. */
const deepest = 16;

/** Of one tool, far more than any has. */
const mostMembers = 1000;

const inTool = new MemberSearch(["type"], mostMembers);

const [quote, comma, openBracket, closeBracket, openBrace] = [0x22, 0x2c, 0x5b, 0x5d, 0x7b];

const nothing: ReadonlySet<string> = new Set();

type Path = () => string;

/**
 * Notes the objects, and the lists with objects, that nobody knows below the top level of a request: in a message, a block,
 * an item, a tool, or another member. A server may read there what costs more, or what it keeps for all clients.
 */
export class InnerMembers {
  readonly #body: Uint8Array;
  readonly #skips: Skips;
  readonly #table: ProtocolTable;
  readonly #places: UnknownPlaces;
  #values = 0;

  constructor(body: Uint8Array, skips: Skips, table: ProtocolTable, places: UnknownPlaces) {
    this.#body = body;
    this.#skips = skips;
    this.#table = table;
    this.#places = places;
  }

  /** @param start - of an object. @param lists - names of members whose lists are read elsewhere. */
  readObject(start: number, path: Path, lists = nothing): void {
    if (!this.#isKnown(start, "inner member", lists, 1)) this.#noteMembers(start, path, "inner member", lists, 1);
  }

  /** Reads an object, or what stands in a list. */
  readValue(start: number, path: Path): void {
    const first = this.#body[start];
    if (first === openBrace) this.readObject(start, path);
    else if (first === openBracket && !this.#isKnownList(start, "", 1)) this.#noteValue(start, path, 1);
  }

  /** Reads a list of tools, and notes those of the server's. What such a tool may have is the operator's word, like itself. */
  readTools(start: number, path: Path, depth = 1): void {
    if (this.#body[start] !== openBracket) return;
    this.#forEach(start, path, (each, its) => this.readTool(each, its, depth));
  }

  /** Reads the definition of a tool. */
  readTool(start: number, path: Path, depth = 1): void {
    if (!this.#isOwnTool(start)) this.#places.note("tool", this.#typeOf(start) ?? "", path);
    else if (!this.#isKnown(start, "tool member", nothing, depth))
      this.#noteMembers(start, path, "tool member", nothing, depth);
  }

  /** Whether it is the definition of a tool that the client runs. Without a type it is one. */
  #isOwnTool(start: number): boolean {
    if (this.#body[start] !== openBrace) return false;
    const type = this.#typeOf(start);
    return type === undefined || this.#table.find("tool", type)?.treatment === "passes";
  }

  /** The type that an object names: empty where servers may read in different ways what it is. */
  #typeOf(start: number): string | undefined {
    const body = this.#body;
    if (inTool.run(body, start, this.#skips) !== undefined) return "";
    return typeAt(body, inTool.starts[0] ?? absent, inTool.ends[0] ?? 0);
  }

  /** Whether a change of the tools, or the tool in it, is one of the server's. */
  #isHosted(name: string, start: number): boolean {
    if (!mayBeHosted(name) || this.#body[start] !== openBrace) return false;
    const type = this.#typeOf(start);
    return type === "" || (type !== undefined && this.#table.find("tool", type)?.treatment === "refused");
  }

  /** Whether there is nothing to note in an object, as nearly always. It makes no paths. */
  #isKnown(start: number, place: Place, lists: ReadonlySet<string>, depth: number): boolean {
    const body = this.#body;
    if (++this.#values > mostValues || depth > deepest) return false;
    let position = skipSpace(body, start + 1);
    while (body[position] === quote) {
      const nameEnd = skipString(body, position);
      const value = skipSpace(body, skipSpace(body, nameEnd) + 1);
      const first = body[value];
      if ((first === openBrace || first === openBracket) && !this.#isKnownMember(position, value, place, lists, depth))
        return false;
      position = skipSpace(body, endOfValue(body, value, this.#skips));
      if (body[position] !== comma) return true;
      position = skipSpace(body, position + 1);
    }
    return true;
  }

  #isKnownMember(nameStart: number, value: number, place: Place, lists: ReadonlySet<string>, depth: number): boolean {
    const body = this.#body;
    const isList = body[value] === openBracket;
    const nameEnd = skipString(body, nameStart);
    const name = familiarName(body, nameStart + 1, nameEnd - 1) ?? nameAt(body, nameStart, nameEnd);
    if ((isList && lists.has(name)) || this.#table.find("open inner member", name) !== undefined) return true;
    if (this.#table.find(place, name) === undefined)
      return isList && !isStructured({ body, skips: this.#skips }, { start: value });
    if (isList) return this.#isKnownList(value, name, depth + 1);
    return !this.#isHosted(name, value) && this.#isKnown(value, "inner member", nothing, depth + 1);
  }

  #isKnownList(start: number, name: string, depth: number): boolean {
    const body = this.#body;
    if (depth > deepest) return false;
    const areTools = name === "tools";
    let position = skipSpace(body, start + 1);
    while (body[position] !== closeBracket) {
      if (body[position] === openBrace) {
        if (areTools ? !this.#isOwnTool(position) : this.#isHosted(name, position)) return false;
        const place = areTools ? "tool member" : "inner member";
        if (!this.#isKnown(position, place, nothing, depth + 1)) return false;
      } else if (body[position] === openBracket) {
        if (mayBeHosted(name) || !this.#isKnownList(position, name, depth + 1)) return false;
      }
      position = skipSpace(body, endOfValue(body, position, this.#skips));
      if (body[position] !== comma) return true;
      position = skipSpace(body, position + 1);
    }
    return true;
  }

  /** Calls `read` with the objects and the lists in a list. */
  #forEach(start: number, path: Path, read: (start: number, path: Path) => void): void {
    const body = this.#body;
    let position = skipSpace(body, start + 1);
    for (let index = 0; body[position] !== closeBracket; index++) {
      const place = index;
      if (body[position] === openBrace || body[position] === openBracket) read(position, () => `${path()}[${place}]`);
      position = skipSpace(body, endOfValue(body, position, this.#skips));
      if (body[position] !== comma) return;
      position = skipSpace(body, position + 1);
    }
  }

  #noteValue(start: number, path: Path, depth: number): void {
    if (this.#body[start] === openBrace) this.#noteMembers(start, path, "inner member", nothing, depth);
    else if (depth > deepest) this.#places.note("inner member", "", path);
    else this.#forEach(start, path, (each, its) => this.#noteValue(each, its, depth + 1));
  }

  #noteMembers(start: number, path: Path, place: Place, lists: ReadonlySet<string>, depth: number): void {
    const body = this.#body;
    if (++this.#values > mostValues || depth > deepest) {
      this.#places.note(place, "", path);
      return;
    }
    let position = skipSpace(body, start + 1);
    while (body[position] === quote) {
      const nameStart = position;
      const nameEnd = skipString(body, position);
      const value = skipSpace(body, skipSpace(body, nameEnd) + 1);
      const first = body[value];
      if (first === openBrace || first === openBracket) {
        const name = nameAt(body, nameStart, nameEnd);
        const its = () => `${path()}.${name}`;
        if (first === openBrace || !lists.has(name)) this.#noteMember(name, value, its, place, depth + 1);
      }
      position = skipSpace(body, endOfValue(body, value, this.#skips));
      if (body[position] !== comma) return;
      position = skipSpace(body, position + 1);
    }
  }

  #noteMember(name: string, value: number, path: Path, place: Place, depth: number): void {
    if (!isStructured({ body: this.#body, skips: this.#skips }, { start: value })) return;
    if (this.#table.find("open inner member", name) !== undefined) return;
    this.#places.note(place, name, path);
    if (this.#table.find(place, name) === undefined) return;
    if (name === "tools") {
      this.readTools(value, path, depth + 1);
      return;
    }
    const note = (start: number, its: Path) => {
      if (this.#isHosted(name, start)) this.#places.note("tool", this.#typeOf(start) ?? "", its);
      // Nobody knows what a list in a list of tools is.
      else if (mayBeHosted(name) && this.#body[start] === openBracket) this.#places.note("tool", "", its);
    };
    if (this.#body[value] === openBracket) this.#forEach(value, path, note);
    else note(value, path);
    this.#noteValue(value, path, depth);
  }
}

/** Whether objects under this name, or in a list of it, may be tools of the server's. */
function mayBeHosted(name: string): boolean {
  return name === "tool" || name === "tool_changes";
}

/** Whether a value is an object, or a list that holds an object or a list. */
export function isStructured(
  { body, skips }: Pick<JsonRequest, "body" | "skips">,
  { start }: Pick<JsonMember, "start">,
): boolean {
  if (body[start] === 0x7b) return true;
  if (body[start] !== 0x5b) return false;
  let position = skipSpace(body, start + 1);
  for (;;) {
    if (body[position] === 0x7b || body[position] === 0x5b) return true;
    if (body[position] === 0x5d) return false;
    position = skipSpace(body, endOfValue(body, position, skips));
    if (body[position] !== 0x2c) return false;
    position = skipSpace(body, position + 1);
  }
}

/** The members of a table that are refused whatever the options say, unless they are `null`. */
export class RefusedMembers {
  readonly names: readonly string[];
  readonly #rows: readonly Row[];

  constructor({ rows }: ProtocolTable) {
    this.#rows = rows.filter(({ place, always }) => place === "member" && always === true);
    this.names = this.#rows.flatMap(({ names }) => names);
  }

  /** @throws GatewayError 400 */
  refuse({ body, members }: JsonRequest): void {
    for (const { names, why, advice } of this.#rows) {
      for (const name of names) {
        const member = memberOf(members, name);
        if (member === undefined || body[member.start] === 0x6e) continue;
        const reason = why === undefined ? "" : `: it ${why}`;
        throw new GatewayError(`'${name}' cannot be set here${reason}. ${advice}`, {
          status: 400,
          code: "unsupported_parameter",
          param: name,
        });
      }
    }
  }
}
