import { Buffer } from "node:buffer";
import { asBuffer } from "../wire/as-buffer.js";
import { type JsonMember, membersOf, valueAt } from "../wire/json-members.js";
import { SliceCount, type Steps } from "../wire/slices.js";
import { type CachedResponse, type FreshPart, freshPlace } from "./cached-response.js";
import { idPrefixOf } from "./fresh-pieces.js";

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
