import { Buffer } from "node:buffer";
import { asBuffer } from "./bytes.js";
import { endOfValue, type JsonMember, skipSpace, skipString } from "./json-members.js";
import { JsonCheck, type JsonFault } from "./json-syntax.js";
import { noSkips, type Skips } from "./skip-table.js";
import { SliceCount, type Steps, sliceBytes, slicesOf, valueBytes } from "./slices.js";

/** Neighbours of so many bytes together become values at once. */
const batchBytes = 64 * 1024;

/**
 * Makes a value of a JSON text that was checked, as `JSON.parse` does. Large objects, lists and texts are made in parts.
 * @param skips - the ends of long values, by their starts: without them, what lies deep is looked at once for each level.
 */
export function* valueSteps(
  bytes: Uint8Array,
  { start, end }: Pick<JsonMember, "start" | "end">,
  skips: Skips = noSkips,
  count: SliceCount = new SliceCount(),
): Steps<unknown> {
  const json = asBuffer(bytes);
  if (end - start <= batchBytes) {
    if (count.isFull(end - start + valueBytes)) yield;
    return JSON.parse(json.toString("utf8", start, end));
  }
  switch (json[start]) {
    case 0x22:
      return yield* longText(json, start + 1, end - 1, count);
    case 0x5b:
      return yield* list({ json, start, skips, count });
    case 0x7b:
      return yield* record({ json, start, skips, count });
    default:
      return JSON.parse(json.toString("utf8", start, end));
  }
}

interface Container {
  readonly json: Buffer;
  readonly start: number;
  readonly skips: Skips;
  readonly count: SliceCount;
}

function* list(container: Container): Steps<unknown[]> {
  const values: unknown[] = [];
  for (const { start, end, value, isLong } of elements(container, false)) {
    if (isLong) values.push(yield* valueSteps(container.json, { start: value, end }, container.skips, container.count));
    else if (end === absent) yield;
    else {
      // Not by the arguments of one call, of which there may be too many.
      for (const each of JSON.parse(`[${container.json.toString("utf8", start, end)}]`)) values.push(each);
      if (container.count.isFull(end - start + valueBytes)) yield;
    }
  }
  return values;
}

function* record(container: Container): Steps<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const { start, end, value, isLong } of elements(container, true)) {
    if (isLong) {
      const name = String(JSON.parse(container.json.toString("utf8", start, skipString(container.json, start))));
      found[name] = yield* valueSteps(container.json, { start: value, end }, container.skips, container.count);
    } else if (end === absent) yield;
    else {
      Object.assign(found, JSON.parse(`{${container.json.toString("utf8", start, end)}}`));
      if (container.count.isFull(end - start + valueBytes)) yield;
    }
  }
  return found;
}

const absent = -1;

/** Neighbours in an object or a list, or one of them by itself that is long. */
interface Element {
  /** With its name. */
  readonly start: number;
  /** `absent`: nothing was found, but it took a slice to look. */
  readonly end: number;
  /** Where the value of a long one begins. */
  readonly value: number;
  readonly isLong: boolean;
}

const nothingYet: Element = { start: 0, end: absent, value: 0, isLong: false };

function* elements({ json, start, skips }: Container, isNamed: boolean): Generator<Element, void> {
  let from = absent;
  let to = start;
  let looked = 0;
  let position = skipSpace(json, start + 1);
  const close = isNamed ? 0x7d : 0x5d;
  while (json[position] !== close && position < json.length) {
    const value = isNamed ? skipSpace(json, skipSpace(json, skipString(json, position)) + 1) : position;
    const end = endOfValue(json, value, skips);
    const isLong = end - value > batchBytes;
    if (from !== absent && (isLong || end - from > batchBytes)) {
      yield { start: from, end: to, value: from, isLong: false };
      from = absent;
    }
    if (isLong) yield { start: position, end, value, isLong: true };
    else if (from === absent) from = position;
    looked += skips.get(value) !== undefined ? valueBytes : end - position;
    if (looked > sliceBytes) {
      looked = 0;
      yield nothingYet;
    }
    to = end;
    const next = skipSpace(json, end);
    position = json[next] === 0x2c ? skipSpace(json, next + 1) : next;
  }
  if (from !== absent) yield { start: from, end: to, value: from, isLong: false };
}

/** The text between two quotes. @returns a rope of its parts, so that it is not copied again and again. */
function* longText(json: Buffer, start: number, end: number, count: SliceCount): Steps<string> {
  let text = "";
  for (let from = start; from < end; ) {
    const to = partEnd(json, from, Math.min(from + batchBytes, end), end);
    const part = json.toString("utf8", from, to);
    text += part.includes("\\") ? String(JSON.parse(`"${part}"`)) : part;
    if (count.isFull(to - from)) yield;
    from = to;
  }
  return text;
}

/** Where a part of a text can end: in no escape, and in no character. */
function partEnd(json: Buffer, from: number, wanted: number, end: number): number {
  if (wanted === end) return end;
  const part = json.subarray(from, wanted);
  let at = 0;
  for (;;) {
    const slash = part.indexOf(0x5c, at);
    if (slash < 0) break;
    at = slash + (json[from + slash + 1] === 0x75 ? 6 : 2);
    if (at >= part.length) return from + at;
  }
  let to = wanted;
  while (to > from && ((json[to] as number) & 0xc0) === 0x80) to--;
  return to;
}

/** How many values a text may have. */
interface MostValues {
  /** Of all, names included. */
  readonly all: number;
  /** Whether the elements of lists count by themselves. A list of numbers takes little memory. Default: they do. */
  readonly elements?: boolean;
  /** Members of one object. Each name of its own takes a hundred times as long as one that others have, too. Default: any. */
  readonly ofObject?: number;
}

/**
 * Whether a text has more JSON values than that, at a look at each byte: as values, tiny ones take dozens of times the memory
 * of their text. The text must be valid JSON.
 * @param skips - the ends of long values, by their starts.
 * @returns which bound it exceeds; `undefined`: none.
 */
export function* moreValuesSteps(
  json: Uint8Array,
  skips: Skips,
  { all, elements = true, ofObject = all }: MostValues,
): Steps<"all" | "ofObject" | undefined> {
  const slices = new SliceCount();
  const around: number[] = [];
  let members = 0;
  let count = 1;
  let looked = 0;
  for (let at = 0; at < json.length && count <= all && members <= ofObject; ) {
    if (at - looked >= lookedAtOnce) {
      if (slices.isFull(at - looked)) yield;
      looked = at;
    }
    const byte = json[at];
    if (byte === 0x22) {
      const end = skips.get(at);
      at = end ?? skipString(json, at);
      // A leap costs nothing.
      if (end !== undefined) looked = at;
      continue;
    }
    // What opens a list or an object, and what stands before each further element and behind each name.
    if (byte === 0x3a || byte === 0x5b || byte === 0x7b || (elements && byte === 0x2c)) count++;
    if (byte === 0x3a) members++;
    else if (byte === 0x7b) {
      around.push(members);
      members = 0;
    } else if (byte === 0x7d) members = around.pop() ?? 0;
    at++;
  }
  if (members > ofObject) return "ofObject";
  return count > all ? "all" : undefined;
}

const lookedAtOnce = 16 * 1024;

/** Texts of JSON that stand in JSON as strings, such as the arguments of a tool, are nested no deeper than that. */
export const mostTextDepth = 256;

/**
 * Why a text is not one JSON object that every reader understands alike, or is nested too deep; `undefined`: it is one. No
 * value is built.
 */
export function* textFaultSteps(text: string): Steps<JsonFault | undefined> {
  const check = new JsonCheck(Buffer.from(text), mostTextDepth);
  yield* slicesOf(check);
  return check.fault;
}
