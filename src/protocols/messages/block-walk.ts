import { absent, elementsOf } from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import type { Skips } from "../../wire/skip-table.js";
import { InnerMembers } from "../shared/inner-members.js";
import type { PartWatch } from "../shared/message-outline.js";
import { typeAt, type UnknownPlaces } from "../shared/protocol-table.js";
import { messagesTable } from "./messages-table.js";

/** Of one block: far more members than any has. */
const mostMembers = 1000;

/** How deep blocks may stand in blocks: a document in the result of a tool holds blocks of its own. */
const deepest = 4;

/** More blocks than messages can hold. */
const mostBlocks = 20_000;

/** What a change of the tools may refer to, in place of a definition. */
const references: ReadonlySet<string> = new Set([
  "tool_definition",
  "tool_reference",
  "mcp_tool_reference",
  "mcp_toolset_reference",
]);

// Shared by all requests: the result of a search is read before the next search begins.
const inBlock = new MemberSearch(["type", "content", "source", "tool", "tool_changes", "tools"], mostMembers);
const inSource = new MemberSearch(["type", "content", "file_id", "url"], mostMembers);
const inChange = new MemberSearch(["type", "definition"], mostMembers);
const inTool = new MemberSearch(["type"], mostMembers);

type Path = () => string;

/** For the blocks of messages. */
export const watchBlocks: PartWatch = {
  table: messagesTable,
  read: ({ body, skips, places }, { start }, _type, path) => new BlockWalk(body, skips, places).readBlock(start, path),
};

/** Notes what does not simply pass within the blocks of a request for a message. */
export class BlockWalk {
  readonly #body: Uint8Array;
  readonly #skips: Skips;
  readonly #places: UnknownPlaces;
  readonly #inner: InnerMembers;

  constructor(body: Uint8Array, skips: Skips, places: UnknownPlaces) {
    this.#body = body;
    this.#skips = skips;
    this.#places = places;
    this.#inner = new InnerMembers(body, skips, messagesTable, places);
  }

  /** @returns how many blocks stand within it. */
  readBlock(start: number, path: Path): number {
    return this.#readBlock(start, path, 0);
  }

  /** For a list of blocks. @returns how many there are, with those within them. */
  readList(start: number, path: Path, depth = 0): number {
    const body = this.#body;
    if (body[start] !== 0x5b) return 0;
    const starts = elementsOf(body, start, this.#skips, mostBlocks);
    let inner = 0;
    for (const [index, each] of starts.entries()) {
      if (body[each] === 0x7b) inner += this.#readBlock(each, () => `${path()}[${index}]`, depth);
    }
    return starts.length + inner;
  }

  #readBlock(start: number, path: Path, depth: number): number {
    const body = this.#body;
    if (depth > deepest || inBlock.run(body, start, this.#skips) !== undefined) return this.#unclear(path);
    const [type, content, source, tool, changes = absent, tools = absent] = Array.from(inBlock.starts);
    const name = typeAt(body, type ?? absent, inBlock.ends[0] ?? 0);
    if (name !== undefined) this.#places.note("block", name, path);
    if (body[source ?? absent] === 0x7b) return this.#readSource(source as number, () => `${path()}.source`, depth);
    if (tools !== absent) this.readTools(tools, () => `${path()}.tools`);
    if (changes !== absent) return this.readList(changes, () => `${path()}.tool_changes`, depth + 1);
    if (body[tool ?? absent] === 0x7b) this.#readChange(tool as number, () => `${path()}.tool`);
    // The results of the server's own tools are its own.
    return name === "tool_result" ? this.readList(content ?? absent, () => `${path()}.content`, depth + 1) : 0;
  }

  #readSource(start: number, path: Path, depth: number): number {
    const body = this.#body;
    if (inSource.run(body, start, this.#skips) !== undefined) return this.#unclear(path);
    const [type, content, file, url = absent] = Array.from(inSource.starts);
    const name = typeAt(body, type ?? absent, inSource.ends[0] ?? 0);
    const isFile = name === "file" || (file !== undefined && file !== absent && body[file] !== 0x6e);
    if (isFile) this.#places.note("source", "file_id", () => `${path()}.file_id`);
    else if (name !== undefined) this.#places.note("source", name, path);
    if (url !== absent) this.#places.noteFile(body, url, this.#skips, () => `${path()}.url`);
    return this.readList(content ?? absent, () => `${path()}.content`, depth + 1);
  }

  /** A tool that a message adds or removes. */
  #readChange(start: number, path: Path): void {
    const body = this.#body;
    if (inChange.run(body, start, this.#skips) !== undefined) {
      this.#unclear(path);
      return;
    }
    const [type, definition] = Array.from(inChange.starts);
    const name = typeAt(body, type ?? absent, inChange.ends[0] ?? 0);
    if (name !== undefined && !references.has(name)) this.#places.note("tool", name, path);
    if (body[definition ?? absent] === 0x7b) this.#readTool(definition as number, () => `${path()}.definition`);
  }

  /** For a list of tools, of the request or in a block. */
  readTools(start: number, path: Path): void {
    const body = this.#body;
    if (body[start] !== 0x5b) return;
    for (const [index, each] of elementsOf(body, start, this.#skips, mostBlocks).entries()) {
      if (body[each] === 0x7b) this.#readTool(each, () => `${path()}[${index}]`);
    }
  }

  /** The definition of a tool. Without a type it is one of the client's. */
  #readTool(start: number, path: Path): void {
    const body = this.#body;
    if (inTool.run(body, start, this.#skips) !== undefined) {
      this.#places.note("tool", "", path);
      return;
    }
    const type = inTool.starts[0] ?? absent;
    const isTyped = type !== absent && body[type] !== 0x6e;
    const name = isTyped ? (typeAt(body, type, inTool.ends[0] ?? 0) ?? "") : undefined;
    if (name !== undefined) this.#places.note("tool", name, path);
    this.#inner.readTool(start, path);
  }

  /** Servers may read in different ways what it is. */
  #unclear(path: Path): number {
    this.#places.note("block", "", path);
    return 0;
  }
}
