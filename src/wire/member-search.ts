import { Buffer } from "node:buffer";
import { absent, endOfValue, longestName, nameAt, skipSpace, skipString, startsWith } from "./json-members.js";
import type { Skips } from "./skip-table.js";

/** What {@link MemberSearch} refuses an object for. */
export interface MemberFault {
  reason: "too_many" | "twice" | "misspelled";
  /** As it is written. */
  name: string;
  /** The name that it would be taken for. */
  meant: string;
}

/** 1 for the bytes of which names are made that are nothing but what they look like. */
const plainInName = new Uint8Array(256);
for (let byte = 0x21; byte < 0x7f; byte++) plainInName[byte] = 1;
for (let byte = 0x41; byte <= 0x5a; byte++) plainInName[byte] = 0;
plainInName[0x2d] = 0;
plainInName[0x5c] = 0;

/**
 * Looks for certain members of one object one after the other, and builds no values of the others.
 * A member may be there once at most, without another name that some server would take for it. So all readers of the
 * object find the same members.
 *
 * One search serves all objects of its kind, of all calls of the thread: to make one for each would take longer than to look
 * through it. What it has found holds until it runs again, so read it before you wait for anything or run it on an inner object.
 */
export class MemberSearch {
  readonly #names: readonly string[];
  readonly #byLength: { name: Buffer; place: number }[][] = [];
  readonly #exact: ExactNames;
  readonly #most: number;
  /** Where the values begin that were found last, by the places of their names, or {@link absent}. */
  readonly starts: Int32Array;
  /** The offsets behind them. */
  readonly ends: Int32Array;
  /** The offset behind the object. */
  end = 0;
  /** How many members it has. */
  count = 0;
  /** How many of these are objects or lists. */
  structured = 0;

  /** @param names - nothing but ASCII. @param most - an object of more members is refused. */
  constructor(names: readonly string[], most: number) {
    this.#names = names;
    for (const [place, name] of names.entries()) {
      this.#byLength[name.length] ??= [];
      this.#byLength[name.length]?.push({ name: Buffer.from(name), place });
    }
    this.#exact = new ExactNames(names);
    this.#most = most;
    this.starts = new Int32Array(names.length);
    this.ends = new Int32Array(names.length);
  }

  /**
   * Goes through the object that begins at `start`. The text must be valid JSON.
   * @param members - takes for each member where its name begins, where its value does, and the offset behind it.
   */
  run(bytes: Uint8Array, start: number, skips: Skips, members?: number[]): MemberFault | undefined {
    const { starts, ends } = this;
    for (let place = 0; place < starts.length; place++) starts[place] = absent;
    this.count = 0;
    this.structured = 0;
    let position = skipSpace(bytes, start + 1);
    while (bytes[position] === 0x22) {
      const nameStart = position;
      const nameEnd = skipString(bytes, nameStart);
      const valueStart = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
      const valueEnd = endOfValue(bytes, valueStart, skips);
      if (bytes[valueStart] === 0x7b || bytes[valueStart] === 0x5b) this.structured++;
      if (++this.count > this.#most) return { reason: "too_many", name: "", meant: "" };
      let place = this.#placeOf(bytes, nameStart, nameEnd);
      if (place === unclear) {
        const name = nameAt(bytes, nameStart, nameEnd);
        const meant = this.#exact.meantBy(name);
        if (meant !== undefined) return { reason: "misspelled", name, meant };
        place = this.#names.indexOf(name);
      }
      if (place >= 0) {
        if (starts[place] !== absent) {
          const name = this.#names[place] ?? "";
          return { reason: "twice", name, meant: name };
        }
        starts[place] = valueStart;
        ends[place] = valueEnd;
      }
      members?.push(nameStart, valueStart, valueEnd);
      position = skipSpace(bytes, valueEnd);
      if (bytes[position] !== 0x2c) break;
      position = skipSpace(bytes, position + 1);
    }
    this.end = position + 1;
    return undefined;
  }

  #placeOf(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start - 2;
    if (length > longestName) return absent;
    const likely = this.#byLength[length];
    if (likely !== undefined) {
      for (const { name, place } of likely) if (startsWith(bytes, start + 1, name)) return place;
    }
    for (let position = start + 1; position < end - 1; position++) {
      if (plainInName[bytes[position] as number] === 0) return unclear;
    }
    return absent;
  }
}

/** The name can be another than it looks like. */
const unclear = -2;

/**
 * What is left of a name for servers that match names loosely, each in its own way: those in Go go by Unicode's simple case
 * folding, in which `ſ` is an s and the Kelvin sign a k; others take `maxTokens` and `max-tokens` for `max_tokens`. Two
 * names of the same remains are one to some server.
 */
export function foldName(name: string): string {
  return name.toUpperCase().toLowerCase().replace(unread, "");
}

/** The dot that stays of a Turkish İ is among them. */
const unread = /[_\-\u0307]/g;

/** Names that must be written as they are wherever they are meant. */
export class ExactNames {
  readonly #names: ReadonlySet<string>;
  readonly #byFolded: ReadonlyMap<string, string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    this.#byFolded = new Map(names.map((name) => [foldName(name), name]));
  }

  /** The name that some server takes this one for, if it is not the very same. */
  meantBy(name: string): string | undefined {
    return this.#names.has(name) ? undefined : this.#byFolded.get(foldName(name));
  }
}

/** The first two of the names that are one to some server. */
export function findTwins(names: readonly string[]): readonly [string, string] | undefined {
  const seen = new Map<string, string>();
  for (const name of names) {
    const folded = foldName(name);
    const twin = seen.get(folded);
    if (twin !== undefined) return [twin, name];
    seen.set(folded, name);
  }
  return undefined;
}
