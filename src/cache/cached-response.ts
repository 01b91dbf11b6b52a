import { Buffer } from "node:buffer";
import { asBuffer } from "../wire/bytes.js";
import { isRecord } from "../wire/is-record.js";
import { type JsonMember, membersOf, valueAt } from "../wire/json-members.js";
import { SliceCount, type Steps } from "../wire/slices.js";

/** What of a kept response is written anew each time, by the numbers that {@link freshPlace} gives it. */
const freshParts = ["id", "date"] as const;

type FreshPart = (typeof freshParts)[number];

/** What is kept of a response beside its bytes. */
interface CachedFacts {
  /** Of its bytes. */
  readonly contentType: string;
  /** What its id begins with, such as `chatcmpl-`; absent: it has no id. */
  readonly idPrefix?: string | undefined;
  /** In epoch milliseconds. */
  readonly keptAt: number;
}

/** A response as it came from its server. */
export interface CachedResponse extends CachedFacts {
  /** Without what is written anew. */
  readonly body: Uint8Array;
  /** Where something is written anew, as {@link freshPlace} makes them, in order. */
  readonly places: Uint32Array;
}

/** A place holds its part in the lowest two bits. */
const partsOfPlace = 4;
/** So that a place is a number of 32 bits. */
export const longestResponse = 2 ** 30 - 1;

const numberBytes = 4;
const headNumbers = 2;

/** The response in one piece, as stores keep it. */
export function encodeResponse({ body, places, ...facts }: CachedResponse): Buffer {
  const head = Buffer.from(JSON.stringify(facts));
  const placesStart = headNumbers * numberBytes + head.length;
  const bodyStart = placesStart + places.length * numberBytes;
  // What is kept for long must not keep the runtime's pool.
  const out = Buffer.allocUnsafeSlow(bodyStart + body.length);
  out.writeUInt32LE(head.length, 0);
  out.writeUInt32LE(places.length, numberBytes);
  head.copy(out, headNumbers * numberBytes);
  places.forEach((place, index) => {
    out.writeUInt32LE(place, placesStart + index * numberBytes);
  });
  out.set(body, bodyStart);
  return out;
}

/** @returns `undefined` for bytes that are no such response: a store may hold anything. */
export function decodeResponse(bytes: Uint8Array): CachedResponse | undefined {
  const from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (from.length < headNumbers * numberBytes) return undefined;
  const headEnd = headNumbers * numberBytes + from.readUInt32LE(0);
  const count = from.readUInt32LE(numberBytes);
  const bodyStart = headEnd + count * numberBytes;
  if (bodyStart > from.length) return undefined;
  const facts = factsIn(from.toString("utf8", headNumbers * numberBytes, headEnd));
  const body = from.subarray(bodyStart);
  const places = Uint32Array.from({ length: count }, (_, index) => from.readUInt32LE(headEnd + index * numberBytes));
  if (facts === undefined || !areSound(places, body.length)) return undefined;
  return { ...facts, body, places };
}

function factsIn(text: string): CachedFacts | undefined {
  let facts: unknown;
  try {
    facts = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(facts)) return undefined;
  const { contentType, idPrefix, keptAt } = facts;
  if (typeof contentType !== "string" || typeof keptAt !== "number" || !Number.isSafeInteger(keptAt)) return undefined;
  return idPrefix === undefined || typeof idPrefix === "string" ? { contentType, idPrefix, keptAt } : undefined;
}

function areSound(places: Uint32Array, length: number): boolean {
  let last = 0;
  return places.every((place) => {
    const offset = offsetOf(place);
    const isSound = offset >= last && offset <= length && partAt(place) !== undefined;
    last = offset;
    return isSound;
  });
}

/** @param offset - in the response's `body`. */
function freshPlace(offset: number, part: FreshPart): number {
  return offset * partsOfPlace + freshParts.indexOf(part);
}

function offsetOf(place: number): number {
  return Math.floor(place / partsOfPlace);
}

function partAt(place: number): FreshPart | undefined {
  return freshParts[place % partsOfPlace];
}

interface PassingPlace {
  readonly start: number;
  readonly end: number;
  readonly part: FreshPart;
}

/** Takes a response apart where its id and its dates stand. Only those of the response itself are touched. */
export function* takeApart(
  body: Uint8Array,
  contentType: string,
): Steps<Pick<CachedResponse, "body" | "places" | "idPrefix">> {
  const bytes = asBuffer(body);
  const isEvents = contentType.startsWith("text/event-stream");
  const starts = isEvents ? eventsIn(bytes) : contentType.startsWith("application/json") ? [0] : [];
  const found: PassingPlace[] = [];
  const count = new SliceCount();
  let responseId: string | undefined;
  let last = 0;
  for (const start of starts) {
    const members = passingMembers(bytes, start);
    found.push(...datesIn(bytes, members));
    responseId ??= idIn(bytes, members);
    if (count.isFull(start - last)) yield;
    last = start;
  }
  if (responseId !== undefined) found.push(...idsIn(bytes, responseId));
  found.sort((one, other) => one.start - other.start);
  const pieces: Uint8Array[] = [];
  const places = new Uint32Array(found.length);
  let from = 0;
  let length = 0;
  for (const [index, { start, end, part }] of found.entries()) {
    pieces.push(body.subarray(from, start));
    length += start - from;
    places[index] = freshPlace(length, part);
    from = end;
  }
  pieces.push(body.subarray(from));
  const idPrefix = responseId === undefined ? undefined : idPrefixOf(responseId);
  return { body: pieces.length === 1 ? body : Buffer.concat(pieces), places, idPrefix };
}

/** Ids are unique, so that whatever has this one means the response. Inside of texts, quotes are escaped. */
function idsIn(bytes: Buffer, id: string): PassingPlace[] {
  const [name, value] = [Buffer.from('"id":'), Buffer.from(JSON.stringify(id))];
  const places: PassingPlace[] = [];
  for (let found = bytes.indexOf(name); found >= 0; found = bytes.indexOf(name, found + name.length)) {
    let start = found + name.length;
    while (bytes[start] === 0x20) start++;
    const end = start + value.length;
    if (bytes.subarray(start, end).equals(value)) places.push({ start, end, part: "id" });
  }
  return places;
}

const dataStart = Buffer.from("data:");

/** Where the objects of the events begin. */
function* eventsIn(bytes: Buffer): Generator<number, void> {
  for (let found = bytes.indexOf(dataStart); found >= 0; found = bytes.indexOf(dataStart, found + 1)) {
    const isLine = found === 0 || bytes[found - 1] === 0x0a || bytes[found - 1] === 0x0d;
    const start = found + dataStart.length + (bytes[found + dataStart.length] === 0x20 ? 1 : 0);
    if (isLine && bytes[start] === 0x7b) yield start;
  }
}

/** In epoch seconds. */
const dateMembers: ReadonlySet<string> = new Set(["created", "created_at", "completed_at"]);
const date = /^\d{10}$/;
/** What events have a response in. */
const holders: ReadonlySet<string> = new Set(["response", "message"]);

/** What the model has written, such as the arguments of a tool, lies deeper. */
function passingMembers(bytes: Buffer, start: number): JsonMember[] {
  const members = membersOf(bytes, start);
  const inner = members.find(({ name, start: value }) => holders.has(name) && bytes[value] === 0x7b);
  return inner === undefined ? members : [...membersOf(bytes, inner.start), ...members];
}

/** @returns `undefined`: there is none, or it is not known yet. */
function idIn(bytes: Buffer, members: readonly JsonMember[]): string | undefined {
  const member = members.find(({ name }) => name === "id");
  const id = member && valueAt(bytes, member);
  return typeof id === "string" && id !== "" ? id : undefined;
}

function datesIn(bytes: Buffer, members: readonly JsonMember[]): PassingPlace[] {
  const dates = members.filter(
    ({ name, start, end }) =>
      dateMembers.has(name) && date.test(bytes.toString("latin1", start, Math.min(end, start + 11))),
  );
  return dates.map(({ start, end }) => ({ start, end, part: "date" }));
}

/** What is written in place of the parts of a kept response that are another each time. */
interface FreshValues {
  /** What is unique: the id of the call, without what it begins with. */
  readonly callId: string;
  /** In epoch milliseconds. */
  readonly now: number;
}

/** So much of a response is made at once, so that a slow client has no copy of all of it. */
const pieceBytes = 64 * 1024;

/** The response with an id and a date of its own, piece by piece. Where nothing is written, they are no copies. */
export function* freshPieces(response: CachedResponse, values: FreshValues): Generator<Uint8Array, undefined> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for (const part of partsOf(response, values)) {
    waiting.push(part);
    length += part.length;
    if (length < pieceBytes) continue;
    yield joined(waiting);
    waiting = [];
    length = 0;
  }
  if (length > 0) yield joined(waiting);
}

/** The whole of it. */
export function freshBytes(response: CachedResponse, values: FreshValues): Uint8Array {
  return joined([...partsOf(response, values)]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

function* partsOf({ body, places, idPrefix }: CachedResponse, values: FreshValues): Generator<Uint8Array, void> {
  const texts: Record<FreshPart, Buffer> = {
    id: Buffer.from(JSON.stringify(freshId(idPrefix, values.callId) ?? "")),
    date: Buffer.from(String(Math.floor(values.now / 1000))),
  };
  let from = 0;
  for (const place of places) {
    const offset = offsetOf(place);
    yield* slicesOf(body.subarray(from, offset));
    from = offset;
    const part = partAt(place);
    if (part !== undefined) yield texts[part];
  }
  yield* slicesOf(body.subarray(from));
}

function* slicesOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** Ids of OpenAI's completions may have dashes; others have none. @returns `undefined` for a response without an id. */
function freshId(idPrefix: string | undefined, callId: string): string | undefined {
  if (idPrefix === undefined) return undefined;
  return idPrefix + (idPrefix.endsWith("_") ? callId.replaceAll("-", "") : callId);
}

/** What an id begins with: the letters up to its first dash or underscore. */
function idPrefixOf(responseId: string): string {
  return /^[A-Za-z]{1,16}[-_]/.exec(responseId)?.[0] ?? "";
}
