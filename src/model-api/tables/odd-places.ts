import { absent, valueAt } from "../../wire/json-members.js";
import type { Leaps } from "../../wire/leaps.js";
import { MemberSearch } from "../../wire/member-search.js";
import { addressAt, isFileStore } from "../media/media-address.js";
import type { Place, ProtocolTable, Row } from "./protocol-table.js";

/** Something inside a request that does not simply pass. */
export interface OddPlace {
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
export class OddPlaces {
  readonly #table: ProtocolTable;
  #names: Set<string> | undefined;
  #found: OddPlace[] | undefined;

  constructor(table: ProtocolTable) {
    this.#table = table;
  }

  /** `undefined`: there is nothing. */
  get found(): readonly OddPlace[] | undefined {
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
  noteFile(body: Uint8Array, start: number, leaps: Leaps, path: () => string, depth = 1): void {
    if (body[start] === 0x22) this.#noteAddress(body, start, path);
    if (body[start] !== 0x7b) return;
    if (depth > deepestFile) {
      this.note("source", "", path);
      return;
    }
    const fault = inFile.run(body, start, leaps);
    const starts = Array.from(inFile.starts);
    const [id = absent, ...addresses] = starts;
    const isNamed = id !== absent && body[id] !== 0x6e;
    if (fault !== undefined || isNamed) this.note("source", "file_id", () => `${path()}.file_id`);
    for (const [place, address] of addresses.entries()) {
      const within = () => `${path()}.${fileNames[place + 1]}`;
      if (address === absent) continue;
      if (body[address] === 0x22) this.#noteAddress(body, address, within);
      else if (body[address] === 0x7b) this.noteFile(body, address, leaps, within, depth + 1);
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
