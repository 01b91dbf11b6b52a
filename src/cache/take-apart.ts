import { Buffer } from "node:buffer";
import { asBuffer } from "../wire/as-buffer.js";
import { type JsonMember, memberOf, membersOf } from "../wire/json-members.js";
import { SliceCount, type Steps } from "../wire/slices.js";
import { type CachedAnswer, type FreshPart, freshPlace } from "./cached-answer.js";

/** What stands in a response that is another one the next time. */
export interface PassingValues {
  /** `undefined`: it has none. */
  readonly responseId: string | undefined;
  /** What its usage says that it costs, as JSON; `undefined`: it does not say. */
  readonly cost: string | undefined;
}

interface PassingPlace {
  readonly start: number;
  readonly end: number;
  readonly part: FreshPart;
}

/** Takes a response apart where its id, its dates and what it costs stand. Only those of the response itself are touched. */
export function* takeApart(
  body: Uint8Array,
  contentType: string,
  values: PassingValues,
): Steps<Pick<CachedAnswer, "body" | "places"> & { readonly hasId: boolean }> {
  const found = [...(yield* placesIn(body, contentType, values))].sort((one, other) => one.start - other.start);
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
  const hasId = found.some(({ part }) => part === "id");
  return { body: pieces.length === 1 ? body : Buffer.concat(pieces), places, hasId };
}

function* placesIn(body: Uint8Array, contentType: string, values: PassingValues): Steps<PassingPlace[]> {
  const bytes = asBuffer(body);
  const isJson = contentType.startsWith("application/json");
  if (!isJson && !contentType.startsWith("text/event-stream")) return [];
  const places = values.responseId === undefined ? [] : idsIn(bytes, values.responseId);
  if (isJson) return [...places, ...passingMembers(bytes, 0, values)];
  const count = new SliceCount();
  let from = 0;
  for (const start of eventsIn(bytes)) {
    places.push(...passingMembers(bytes, start, values));
    if (count.isFull(start - from)) yield;
    from = start;
  }
  return places;
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
function passingMembers(bytes: Buffer, start: number, { cost }: PassingValues): PassingPlace[] {
  const members = membersOf(bytes, start);
  const inner = members.find(({ name, start: value }) => holders.has(name) && bytes[value] === 0x7b);
  return [members, ...(inner === undefined ? [] : [membersOf(bytes, inner.start)])].flatMap((all) => [
    ...datesIn(bytes, all),
    ...costIn(bytes, all, cost),
  ]);
}

function datesIn(bytes: Buffer, members: readonly JsonMember[]): PassingPlace[] {
  const dates = members.filter(
    ({ name, start, end }) =>
      dateMembers.has(name) && date.test(bytes.toString("latin1", start, Math.min(end, start + 11))),
  );
  return dates.map(({ start, end }) => ({ start, end, part: "date" }));
}

function costIn(bytes: Buffer, members: readonly JsonMember[], cost: string | undefined): PassingPlace[] {
  const usage = cost === undefined ? undefined : memberOf(members, "usage");
  if (usage === undefined || bytes[usage.start] !== 0x7b) return [];
  const found = memberOf(membersOf(bytes, usage.start), "cost");
  if (found === undefined || bytes.toString("latin1", found.start, found.end) !== cost) return [];
  return [{ start: found.start, end: found.end, part: "cost" }];
}
