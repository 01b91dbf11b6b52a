import { Buffer } from "node:buffer";
import { isRecord } from "../wire/is-record.js";

/** What of a kept response is written anew each time, by the numbers that {@link freshPlace} gives it. */
export const freshParts = ["id", "date"] as const;

export type FreshPart = (typeof freshParts)[number];

/** What is kept of a response beside its bytes. */
export interface CachedFacts {
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
export function freshPlace(offset: number, part: FreshPart): number {
  return offset * partsOfPlace + freshParts.indexOf(part);
}

export function offsetOf(place: number): number {
  return Math.floor(place / partsOfPlace);
}

export function partAt(place: number): FreshPart | undefined {
  return freshParts[place % partsOfPlace];
}
