import { Buffer } from "node:buffer";
import { asBuffer, ByteWriter } from "./bytes.js";
import { isSpace } from "./check-by-loop.js";
import { noSkips, type Skips } from "./skip-table.js";

/** A member of a JSON object, as offsets into the bytes it was found in. */
export interface JsonMember {
  name: string;
  /** The name is spelled with escapes in the text. */
  escaped: boolean;
  /** Offset of the name's opening quote. */
  nameStart: number;
  /** Offset of the value's first byte. */
  start: number;
  /** Offset behind the value's last byte. */
  end: number;
}

/** New values of members, by their names, as JSON text; `null` takes the member out. */
export type MemberEdits = Map<string, string | Uint8Array | null>;

/**
 * The members of the object that begins at `start`, in order, duplicates included.
 * The text must be valid JSON already: values are only leapt over.
 *
 * @param most - stop looking when there are more than so many.
 * @param skips - the ends of long values by their starts, as `findJsonFault` notes them.
 */
export function membersOf(
  bytes: Uint8Array,
  start = 0,
  most = Number.POSITIVE_INFINITY,
  skips: Skips = noSkips,
): JsonMember[] {
  const members: JsonMember[] = [];
  let position = skipSpace(bytes, skipSpace(bytes, start) + 1);
  while (bytes[position] === 0x22 && members.length <= most) {
    const nameStart = position;
    const nameEnd = skipString(bytes, nameStart);
    const familiar = familiarName(bytes, nameStart + 1, nameEnd - 1);
    const name = familiar ?? nameAt(bytes, nameStart, nameEnd);
    const escaped = familiar === undefined && hasEscape(bytes, nameStart, nameEnd);
    const valueStart = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const valueEnd = endOfValue(bytes, valueStart, skips);
    members.push({ name, escaped, nameStart, start: valueStart, end: valueEnd });
    position = skipSpace(bytes, valueEnd);
    if (bytes[position] !== 0x2c) break;
    position = skipSpace(bytes, position + 1);
  }
  return members;
}

/** No name that the gateway looks for has more bytes. */
export const longestName = 256;

/** The name between the quotes, unless it is a long one: of that the beginning, and as it is spelled. */
export function nameAt(bytes: Uint8Array, start: number, end: number): string {
  const isLong = end - start - 2 > longestName;
  const text = textOf(bytes, start + 1, isLong ? start + 1 + longestName : end - 1);
  return !isLong && text.includes("\\") ? String(JSON.parse(`"${text}"`)) : text;
}

/** The first member of this name. */
export function memberOf(members: readonly JsonMember[], name: string): JsonMember | undefined {
  for (const member of members) if (member.name === name) return member;
  return undefined;
}

/** What stands for an offset where there is none. */
export const absent = -1;

/** The offset behind the value that begins at `start`. The text must be valid JSON. */
export function endOfValue(bytes: Uint8Array, start: number, skips: Skips = noSkips): number {
  return skips.get(start) ?? skipValue(bytes, start);
}

export function startsWith(bytes: Uint8Array, start: number, text: Buffer): boolean {
  for (let offset = 0; offset < text.length; offset++) if (bytes[start + offset] !== text[offset]) return false;
  return true;
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let position = start; position < end; position++) if (bytes[position] === 0x5c) return true;
  return false;
}

/**
 * The offsets of the elements' first bytes in the array that begins at `start`. The text must be valid JSON.
 * @param most - stop looking when there are more than so many.
 */
export function elementsOf(
  bytes: Uint8Array,
  start: number,
  skips: Skips = noSkips,
  most = Number.POSITIVE_INFINITY,
): number[] {
  const elements: number[] = [];
  let position = skipSpace(bytes, start + 1);
  while (position < bytes.length && bytes[position] !== 0x5d && elements.length <= most) {
    elements.push(position);
    position = skipSpace(bytes, endOfValue(bytes, position, skips));
    if (bytes[position] !== 0x2c) break;
    position = skipSpace(bytes, position + 1);
  }
  return elements;
}

export type Scalar = string | number | boolean | null;

/** The member's value, if it is no object and no array: of these, `undefined`. */
export function valueAt(bytes: Uint8Array, { start, end }: Pick<JsonMember, "start" | "end">): Scalar | undefined {
  switch (bytes[start]) {
    case 0x7b:
    case 0x5b:
      return undefined;
    case 0x74:
      return true;
    case 0x66:
      return false;
    case 0x6e:
      return null;
    case 0x22: {
      const text = textOf(bytes, start + 1, end - 1);
      return text.includes("\\") ? String(JSON.parse(`"${text}"`)) : text;
    }
    default:
      return shortInteger(bytes, start, end) ?? Number(textOf(bytes, start, end));
  }
}

/**
 * A number of nothing but digits, few enough to be exact: most are, and reading them is quicker than to make a text.
 * @returns `undefined` for any other number.
 */
export function shortInteger(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start > 15) return undefined;
  let value = 0;
  for (let position = start; position < end; position++) {
    const digit = (bytes[position] as number) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * The object `bytes` with some members changed, everything else byte for byte as it was.
 *
 * @param edits - by member name: the new value as JSON text, or `null` to take the member out. Names that the object
 * does not have are added at its beginning.
 */
export function editMembers(bytes: Uint8Array, members: readonly JsonMember[], edits: Readonly<MemberEdits>): Buffer {
  const out = new ByteWriter(bytes.length + spareBytes);
  writeEdited(out, asBuffer(bytes), members, edits);
  return out.finish();
}

/** What gathers an edited object. */
export interface MemberWriter {
  write(bytes: Uint8Array): void;
  writeFrom(bytes: Buffer, start: number, end: number): void;
  writeText(text: string): void;
}

/** Writes what {@link editMembers} returns. */
export function writeEdited(
  out: MemberWriter,
  source: Buffer,
  members: readonly JsonMember[],
  edits: Readonly<MemberEdits>,
): void {
  let next = "{";
  for (const [name, value] of edits) {
    if (value === null || memberOf(members, name) !== undefined) continue;
    out.writeText(`${next}${JSON.stringify(name)}:`);
    writeValue(out, value);
    next = ",";
  }
  // What stays is copied in runs as long as can be: `from` is where the current one began.
  let from = -1;
  let to = 0;
  for (const member of members) {
    const edit = edits.get(member.name);
    if (edit === null) {
      if (from >= 0) out.writeFrom(source, from, to);
      from = -1;
      continue;
    }
    if (from < 0) {
      out.writeText(next);
      next = ",";
      from = member.nameStart;
    }
    if (edit !== undefined) {
      out.writeFrom(source, from, member.start);
      writeValue(out, edit);
      from = member.end;
    }
    to = member.end;
  }
  if (from >= 0) out.writeFrom(source, from, to);
  out.writeText(next === "{" ? "{}" : "}");
}

/** The same bytes with those from `start` to `end` replaced. */
export function splice(bytes: Uint8Array, start: number, end: number, text: string): Buffer {
  const growth = Buffer.byteLength(text) - (end - start);
  const out = Buffer.allocUnsafe(bytes.length + growth);
  if (growth >= 0 && start <= shortString) {
    // Each copied part takes a view. A loop copies short ones faster.
    out.set(bytes, growth);
    for (let position = 0; position < start; position++) out[position] = bytes[position] as number;
  } else {
    out.set(bytes.subarray(0, start));
    out.set(bytes.subarray(end), end + growth);
  }
  out.write(text, start);
  return out;
}

function writeValue(out: MemberWriter, value: string | Uint8Array): void {
  if (typeof value === "string") out.writeText(value);
  else out.write(value);
}

/** What an object may grow by, with its edits, before the buffer has to. */
const spareBytes = 512;

export function skipSpace(bytes: Uint8Array, from: number): number {
  let position = from;
  while (isSpace(bytes[position])) position++;
  return position;
}

/** Names that nearly every object here has: recognising one is cheaper than decoding it. */
const familiarNames = groupByLength([
  "n",
  "id",
  "role",
  "seed",
  "stop",
  "text",
  "type",
  "user",
  "index",
  "delta",
  "input",
  "model",
  "store",
  "tools",
  "top_p",
  "usage",
  "error",
  "object",
  "stream",
  "output",
  "system",
  "status",
  "choices",
  "content",
  "created",
  "message",
  "refusal",
  "include",
  "logprobs",
  "messages",
  "metadata",
  "thinking",
  "reasoning",
  "dimensions",
  "max_tokens",
  "tool_calls",
  "created_at",
  "background",
  "truncation",
  "annotations",
  "temperature",
  "tool_choice",
  "stop_reason",
  "service_tier",
  "completed_at",
  "instructions",
  "finish_reason",
  "function",
  "parameters",
  "cache_control",
  "stop_sequence",
  "stream_options",
  "stop_sequences",
  "encoding_format",
  "response_format",
  "presence_penalty",
  "reasoning_effort",
  "prompt_cache_key",
  "frequency_penalty",
  "max_output_tokens",
  "system_fingerprint",
  "incomplete_details",
  "parallel_tool_calls",
  "previous_response_id",
  "max_completion_tokens",
]);

function groupByLength(names: readonly string[]): { text: string; bytes: Buffer }[][] {
  const groups: { text: string; bytes: Buffer }[][] = [];
  for (const text of names) {
    groups[text.length] ??= [];
    groups[text.length]?.push({ text, bytes: Buffer.from(text) });
  }
  return groups;
}

/** The name, if it is one of those that most requests and responses have: nothing is made for it. */
export function familiarName(bytes: Uint8Array, start: number, end: number): string | undefined {
  const group = familiarNames[end - start];
  if (group === undefined) return undefined;
  for (const { text, bytes: name } of group) if (startsWith(bytes, start, name)) return text;
  return undefined;
}

/** So far a loop is faster than a search of the runtime's. */
const shortString = 24;

/** Reads short values and the text between escapes. Else it skips to the next quote. */
export function skipString(bytes: Uint8Array, start: number): number {
  let from = start + 1;
  for (;;) {
    for (let stop = from + shortString; from < stop; from++) {
      const byte = bytes[from];
      if (byte === 0x22) return from + 1;
      if (byte === undefined) return bytes.length;
      if (byte !== 0x5c) continue;
      from++;
      // Escapes come in crowds, in which a leap would not get far.
      stop = from + shortString;
    }
    const close = bytes.indexOf(0x22, from);
    if (close < 0) return bytes.length;
    let backslashes = 0;
    while (close - backslashes > from && bytes[close - 1 - backslashes] === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return close + 1;
    from = close + 1;
  }
}

/** 1 for the bytes that open or close something. */
const brackets = new Uint8Array(256);
for (const byte of [0x22, 0x5b, 0x5d, 0x7b, 0x7d]) brackets[byte] = 1;

function skipValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === 0x22) return skipString(bytes, start);
  if (first !== 0x7b && first !== 0x5b) return skipWord(bytes, start);
  const { length } = bytes;
  let depth = 0;
  let position = start;
  for (;;) {
    while (position < length && brackets[bytes[position] as number] === 0) position++;
    if (position >= length) return position;
    const byte = bytes[position];
    if (byte === 0x22) {
      position = skipString(bytes, position);
      continue;
    }
    position++;
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if (--depth === 0) return position;
  }
}

/** A number, `true`, `false` or `null`. */
function skipWord(bytes: Uint8Array, start: number): number {
  let position = start;
  for (;;) {
    const byte = bytes[position];
    if (byte === undefined || byte === 0x2c || byte === 0x7d || byte === 0x5d || byte <= 0x20) return position;
    position++;
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return asBuffer(bytes).toString("utf8", start, end);
}
