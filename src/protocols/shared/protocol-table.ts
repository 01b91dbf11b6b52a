import type { OperationName } from "../../prices/operation-name.js";
import { absent, valueAt } from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import type { Skips } from "../../wire/skip-table.js";
import { addressAt, isFileStore } from "./media-kind.js";

/**
 * What the gateway does with something that a client may send. `passes`: it reaches a server that speaks the protocol,
 * and changes nothing but the response. `priced`: it passes, and what it costs is in the usage. `expanded`: the gateway
 * puts what it refers to in its place. `left out`: it is removed, and the response stays the same. `refused`: a 400.
 */
export type Treatment = "passes" | "priced" | "expanded" | "left out" | "refused";

/**
 * Where it stands. `member`: of the request. `item`: of an input, by its type. `block`: of a content, by its type.
 * `source`: of an image or a document. `tool`: by its type, in a list of tools and inside messages. `tool member`: an
 * object or a list in one. `inner member`: one anywhere else below the top level. `open member`: a member of the request
 * whose content is the client's own, or read apart. `open inner member`: the same for one below the top level. `edit`: of a conversation that became long. `beta`: a value of the header `anthropic-beta`.
 */
export type Place =
  | "member"
  | "item"
  | "block"
  | "source"
  | "tool"
  | "tool member"
  | "inner member"
  | "open member"
  | "open inner member"
  | "edit"
  | "beta";

/** Names with the same treatment. */
export interface Row {
  readonly place: Place;
  readonly treatment: Treatment;
  /** A `*` at the end stands for digits, letters, `_` and `-`: vendors date their names. */
  readonly names: readonly string[];
  /** The reason; it follows the name in the error. */
  readonly why?: string;
  /** What to do instead. */
  readonly advice?: string;
  /** Further values of a member that request nothing, as JSON without white space. */
  readonly neutral?: readonly string[];
  /** Refused whatever the options say, also where no target speaks the protocol. */
  readonly always?: true;
}

interface Facts {
  readonly protocol: OperationName;
  /** The vendor's reference that it was made from. */
  readonly reference: string;
  /** The day of that reference. */
  readonly date: string;
  /** Members that no rule of all protocols is for: here they mean something else, or are checked apart. */
  readonly own: readonly string[];
  /** Its prices are for what the table knows, and nothing that a server reports says more: no unknown member simply passes. */
  readonly isClosed?: boolean;
}

/**
 * Everything that the gateway knows of what one protocol's clients may send, as data. What stands in no row, and in no
 * row of `restrictions`, is unknown. The check, `docs/restricted-members.md` and the tests read it.
 */
export class ProtocolTable {
  readonly protocol: OperationName;
  readonly reference: string;
  readonly date: string;
  readonly own: ReadonlySet<string>;
  readonly isClosed: boolean;
  readonly rows: readonly Row[];
  readonly #exact = new Map<Place, Map<string, Row>>();
  readonly #beginnings = new Map<Place, { readonly beginning: string; readonly row: Row }[]>();

  constructor({ protocol, reference, date, own, isClosed = false }: Facts, rows: readonly Row[]) {
    this.protocol = protocol;
    this.reference = reference;
    this.date = date;
    this.own = new Set(own);
    this.isClosed = isClosed;
    this.rows = rows;
    for (const row of rows) for (const name of row.names) this.#add(name, row);
  }

  #add(name: string, row: Row): void {
    const { place } = row;
    if (name.endsWith("*")) {
      const beginnings = this.#beginnings.get(place) ?? [];
      beginnings.push({ beginning: name.slice(0, -1), row });
      this.#beginnings.set(place, beginnings);
      return;
    }
    const names = this.#exact.get(place) ?? new Map<string, Row>();
    this.#exact.set(place, names.set(name, row));
  }

  /** `undefined`: the name is unknown. */
  find(place: Place, name: string): Row | undefined {
    const exact = this.#exact.get(place)?.get(name);
    if (exact !== undefined) return exact;
    const found = this.#beginnings.get(place)?.find(({ beginning }) => name.startsWith(beginning));
    return found !== undefined && plain.test(name) ? found.row : undefined;
  }

  /** The names in a place that get this treatment. */
  names(place: Place, treatment: Treatment): string[] {
    return this.rows.filter((row) => row.place === place && row.treatment === treatment).flatMap(({ names }) => names);
  }
}

const plain = /^[\w-]{1,128}$/;

/** The words of a list that is written as one text. */
export const words = (text: string): string[] => text.trim().split(/\s+/);

/** Something inside a request that does not simply pass. */
export interface UnknownPlace {
  readonly place: Place;
  /** Empty where it is no name that an option could allow. */
  readonly name: string;
  /** Where it stands in the request. */
  readonly path: string;
  /** `undefined`: it is unknown. */
  readonly row: Row | undefined;
}

/** Far more names than honest requests have. */
const mostNames = 64;

/** Of an object that may name a file: far more members than any has. */
const mostMembers = 1000;

/** Objects in each other that may name a file, more than honest requests have. Each looks at the bytes of those in it. */
const deepestFile = 4;

/** Where a file may be named, by its id or by its address. */
const fileNames = ["file_id", "url", "image_url", "file_url", "video_url", "audio_url", "file_data"] as const;
const inFile = new MemberSearch(fileNames, mostMembers);

/** Finds what does not simply pass, each name once. */
export class UnknownPlaces {
  readonly #table: ProtocolTable;
  #names: Set<string> | undefined;
  #found: UnknownPlace[] | undefined;

  constructor(table: ProtocolTable) {
    this.#table = table;
  }

  /** `undefined`: there is nothing. */
  get found(): readonly UnknownPlace[] | undefined {
    return this.#found;
  }

  /** @param name - empty: it cannot be told. @param path - called where it is needed. */
  note(place: Place, name: string, path: () => string): void {
    const row = this.#table.find(place, name);
    if (row !== undefined && row.treatment !== "refused") return;
    const key = `${place} ${name}`;
    this.#names ??= new Set();
    const { size } = this.#names;
    if (this.#names.has(key) || size > mostNames) return;
    const isFull = size === mostNames;
    this.#names.add(key);
    this.#found ??= [];
    // One that no option allows stands for all further ones.
    this.#found.push(isFull ? { place, name: "", path: path(), row: tooMany } : { place, name, path: path(), row });
  }

  /** Notes a file of the operator's that the object, or an object in it, names by its id or by its address. */
  noteFile(body: Uint8Array, start: number, skips: Skips, path: () => string, depth = 1): void {
    if (body[start] === 0x22) this.#noteAddress(body, start, path);
    if (body[start] !== 0x7b) return;
    if (depth > deepestFile) {
      this.note("source", "", path);
      return;
    }
    const fault = inFile.run(body, start, skips);
    const starts = Array.from(inFile.starts);
    const [id = absent, ...addresses] = starts;
    const isNamed = id !== absent && body[id] !== 0x6e;
    if (fault !== undefined || isNamed) this.note("source", "file_id", () => `${path()}.file_id`);
    for (const [place, address] of addresses.entries()) {
      const within = () => `${path()}.${fileNames[place + 1]}`;
      if (address === absent) continue;
      if (body[address] === 0x22) this.#noteAddress(body, address, within);
      else if (body[address] === 0x7b) this.noteFile(body, address, skips, within, depth + 1);
    }
  }

  #noteAddress(body: Uint8Array, start: number, path: () => string): void {
    if (isFileStore(addressAt(body, start))) this.note("source", "file_id", path);
  }
}

const tooMany: Row = { place: "block", treatment: "refused", names: [], why: "is one of too many unknown types" };

/** No type is longer, in bytes. */
const longestType = 256;

/** The type that a value names: empty where it is too long, and `undefined` where it is no text. */
export function typeAt(body: Uint8Array, start: number, end: number): string | undefined {
  if (start === absent || body[start] !== 0x22) return undefined;
  return end - start > longestType ? "" : String(valueAt(body, { start, end }));
}
