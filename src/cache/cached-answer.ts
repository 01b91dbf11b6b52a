import { Buffer } from "node:buffer";
import { asBuffer } from "../wire/as-buffer.js";

/** What of a kept response is written anew each time: ids are unique, and a response is as old as it is. */
export type FreshPart = "id" | "created";

/** A response as its client got it, in pieces. */
export interface CachedAnswer {
  readonly pieces: readonly (Uint8Array | FreshPart)[];
  /** What the response's id begins with, such as `chatcmpl-`. */
  readonly idPrefix: string;
  /** Of its bytes. */
  readonly contentType: string;
  readonly finishReason: string | undefined;
  /** What the call was charged. */
  readonly micro: number;
  /** In epoch milliseconds. */
  readonly keptAt: number;
  /** What it takes of the cache. */
  readonly size: number;
}

/** What is written in place of the {@link FreshPart}s. */
export interface FreshParts {
  /** What is unique: the id of the call, without what it begins with. */
  readonly callId: string;
  /** In epoch milliseconds. */
  readonly now: number;
}

/** Names of the dates of responses, in epoch seconds. */
const dateMembers = ["created", "created_at"];

const secondsLength = 10;

/**
 * Takes a response apart where its id and its date stand.
 * @param responseId - `undefined`: it has none.
 */
export function piecesOf(body: Uint8Array, responseId: string | undefined): (Uint8Array | FreshPart)[] {
  const bytes = asBuffer(body);
  const places = [
    ...(responseId === undefined ? [] : placesOf(bytes, "id", Buffer.from(JSON.stringify(responseId)))),
    ...dateMembers.flatMap((name) => placesOf(bytes, name, undefined)),
  ].sort((one, other) => one.start - other.start);
  const pieces: (Uint8Array | FreshPart)[] = [];
  let from = 0;
  for (const { start, end, part } of places) {
    pieces.push(bytes.subarray(from, start), part);
    from = end;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}

interface PartPlace {
  readonly start: number;
  readonly end: number;
  readonly part: FreshPart;
}

/**
 * Where members of a name stand, at any depth. Inside of texts, quotes are escaped, so that none is found there.
 * @param value - only with this value; `undefined`: with one that is a date.
 */
function placesOf(bytes: Buffer, name: string, value: Buffer | undefined): PartPlace[] {
  const member = Buffer.from(`"${name}":`);
  const places: PartPlace[] = [];
  for (let found = bytes.indexOf(member); found >= 0; found = bytes.indexOf(member, found + member.length)) {
    let start = found + member.length;
    while (bytes[start] === 0x20) start++;
    const length = value?.length ?? secondsLength;
    const text = bytes.subarray(start, start + length);
    const isIt = value === undefined ? /^\d{10}$/.test(text.toString("latin1")) : text.equals(value);
    if (isIt) places.push({ start, end: start + length, part: value === undefined ? "created" : "id" });
  }
  return places;
}

/** The response with an id and a date of its own. */
export function freshBytes({ pieces, idPrefix }: CachedAnswer, { callId, now }: FreshParts): Buffer {
  const id = freshId(idPrefix, callId);
  const created = Buffer.from(String(Math.floor(now / 1000)));
  const idJson = Buffer.from(JSON.stringify(id));
  return Buffer.concat(
    pieces.map((piece) => (typeof piece === "string" ? (piece === "id" ? idJson : created) : piece)),
  );
}

/** Ids of OpenAI's completions may have dashes; others have none. */
export function freshId(idPrefix: string, callId: string): string {
  return idPrefix + (idPrefix.endsWith("_") ? callId.replaceAll("-", "") : callId);
}

/** What an id begins with: the letters up to its first dash or underscore. */
export function idPrefixOf(responseId: string | undefined): string {
  return /^[A-Za-z]{1,16}[-_]/.exec(responseId ?? "")?.[0] ?? "";
}
