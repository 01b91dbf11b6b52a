import type { EventPlace } from "./event-template.js";
import { type JsonMember, memberOf } from "./json-members.js";

/** The place of a member's value; of a string, of what stands between its quotes. */
export function placeOf(kind: EventPlace["kind"], { start, end }: JsonMember): EventPlace {
  return kind === "text" || kind === "padding" ? { kind, start: start + 1, end: end - 1 } : { kind, start, end };
}

/** Far more than an event of text has. Each is compared with those before it. */
const mostMembers = 64;

/** Whether no member has the name of another, so that all readers read the same. Of very many, nobody knows. */
export function areDistinct(members: readonly JsonMember[]): boolean {
  return members.length <= mostMembers && members.every((member) => memberOf(members, member.name) === member);
}
