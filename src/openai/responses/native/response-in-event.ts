import type { Buffer } from "node:buffer";
import type { ReceivedAnswer } from "../../../model-api/answer/received-answer.js";
import {
  type JsonMember,
  type MemberEdits,
  type MemberWriter,
  membersOf,
  writeEdited,
} from "../../../wire/json-members.js";
import { type Leaps, noLeaps } from "../../../wire/leaps.js";

const openBrace = 0x7b;

/** Writes the JSON of an event with its response changed. */
export function writeEvent(out: MemberWriter, json: Buffer, edits: MemberEdits, leaps = noLeaps): void {
  let from = 0;
  for (const { start, end } of edits.size === 0 ? [] : responsesIn(json, leaps)) {
    out.writeFrom(json, from, start);
    writeEdited(out, json, membersOf(json, start, Number.POSITIVE_INFINITY, leaps), edits);
    from = end;
  }
  out.writeFrom(json, from, json.length);
}

function responsesIn(json: Uint8Array, leaps: Leaps): JsonMember[] {
  return membersOf(json, 0, Number.POSITIVE_INFINITY, leaps).filter(
    ({ name, start }) => name === "response" && json[start] === openBrace,
  );
}

/** The response in the JSON of an event. */
export function responseIn(json: Uint8Array): Uint8Array | undefined {
  const member = responsesIn(json, noLeaps).at(-1);
  return member && json.subarray(member.start, member.end);
}

/** What the gateway reads of a response in an event, beside its output. */
const read: ReadonlySet<string> = new Set([
  ...["id", "model", "store", "previous_response_id", "usage"],
  ...["created_at", "status", "incomplete_details", "error"],
]);

/** Whether a text is left out of an event's response that the gateway reads. */
export function lacksWhatIsRead({ bytes, gaps, leaps }: ReceivedAnswer): boolean {
  const isLacking = ({ name, start, end }: JsonMember) =>
    read.has(name) && gaps.some((gap) => gap >= start && gap < end);
  return responsesIn(bytes, leaps).some(({ start }) =>
    membersOf(bytes, start, Number.POSITIVE_INFINITY, leaps).some(isLacking),
  );
}
