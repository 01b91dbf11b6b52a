import type { UsageCounts } from "../../metering/usage-counts.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { editMembers, type JsonMember, memberOf, membersOf, skipSpace, splice } from "../../wire/json-members.js";

/** The credits that a call is charged if it ends with these tokens, as a JSON number. */
export type CostOf = (tokens: UsageCounts) => string;

const brace = 0x7b;
const bracket = 0x5b;
const endOfList = 0x5d;

/** A whole response with what it costs in its `usage`; the same bytes where it has none. @param credits - as JSON. */
export function withCost(response: Uint8Array, credits: string): Uint8Array {
  const usage = objectOf(response, membersOf(response), "usage");
  return usage === undefined ? response : setCost(response, usage, credits);
}

/**
 * The same for the JSON of an event. The usage stands in the event, or in the response in it. An event that also has
 * choices is not the one that a client asked for.
 */
export function eventWithCost(event: Uint8Array, credits: string): Uint8Array {
  const members = membersOf(event);
  const choices = memberOf(members, "choices");
  if (choices !== undefined && event[choices.start] === bracket) {
    if (event[skipSpace(event, choices.start + 1)] !== endOfList) return event;
  }
  const response = objectOf(event, members, "response");
  const holder = response === undefined ? members : membersOf(event, response.start);
  const usage = objectOf(event, holder, "usage");
  return usage === undefined ? event : setCost(event, usage, credits);
}

function setCost(json: Uint8Array, { start, end }: JsonMember, credits: string): Uint8Array {
  const usage = json.subarray(start, end);
  const edited = editMembers(usage, membersOf(usage), new Map([["cost", credits]]));
  return splice(json, start, end, asBuffer(edited).toString());
}

function objectOf(json: Uint8Array, members: readonly JsonMember[], name: string): JsonMember | undefined {
  const member = memberOf(members, name);
  return member !== undefined && json[member.start] === brace ? member : undefined;
}
