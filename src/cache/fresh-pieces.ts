import { Buffer } from "node:buffer";
import { type CachedResponse, type FreshPart, offsetOf, partAt } from "./cached-response.js";

/** What is written in place of the parts of a kept response that are another each time. */
export interface FreshValues {
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
export function freshId(idPrefix: string | undefined, callId: string): string | undefined {
  if (idPrefix === undefined) return undefined;
  return idPrefix + (idPrefix.endsWith("_") ? callId.replaceAll("-", "") : callId);
}

/** What an id begins with: the letters up to its first dash or underscore. */
export function idPrefixOf(responseId: string): string {
  return /^[A-Za-z]{1,16}[-_]/.exec(responseId)?.[0] ?? "";
}
