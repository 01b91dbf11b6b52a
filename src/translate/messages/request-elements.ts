import { asBuffer } from "../../wire/as-buffer.js";
import { isRecord } from "../../wire/is-record.js";
import {
  elementsOf,
  endOfValue,
  type JsonMember,
  type Leaps,
  memberOf,
  membersOf,
  noLeaps,
} from "../../wire/json-members.js";

/** The members of a request whose sizes were checked. */
export interface RequestMembers {
  readonly body: Uint8Array;
  readonly members: readonly JsonMember[];
  readonly leaps: Leaps;
}

/** A message of a request, as a chat completion and a message have it alike. */
export interface RequestMessage {
  readonly role: string;
  /** All its members. */
  readonly members: Record<string, unknown>;
  /** `messages[0]` */
  readonly path: string;
  /** For the parts of its content, the members of which the text counts: `undefined` where they have none. */
  readonly raw: readonly (string | undefined)[];
}

/** The value of a member of the request; `undefined` where it is absent or `null`. */
export function requestValue({ body, members }: Omit<RequestMembers, "leaps">, name: string): unknown {
  const member = memberOf(members, name);
  return member === undefined ? undefined : (parse(body, member.start, member.end) ?? undefined);
}

/**
 * The messages, one by one.
 * @param rawName - a member of parts of which the text counts: numbers of more digits than a double has are in it as they are.
 */
export function* requestMessages(
  { body, members, leaps }: RequestMembers,
  rawName?: string,
): Generator<RequestMessage> {
  const messages = memberOf(members, "messages");
  const starts = messages === undefined ? [] : elementsOf(body, messages.start, leaps);
  for (const [index, start] of starts.entries()) {
    const value = parse(body, start, endOfValue(body, start, leaps));
    if (!isRecord(value)) continue;
    const raw = rawName === undefined ? [] : rawParts(body, start, rawName, leaps);
    yield { role: String(value["role"]), members: value, path: `messages[${index}]`, raw };
  }
}

/** For the parts of a message's content, the text of their members of a name. @param message - where it begins. */
export function rawParts(
  body: Uint8Array,
  message: number,
  name: string,
  leaps: Leaps = noLeaps,
): readonly (string | undefined)[] {
  const content = memberOf(membersOf(body, message, Number.POSITIVE_INFINITY, leaps), "content");
  if (content === undefined || body[content.start] !== 0x5b) return [];
  return elementsOf(body, content.start, leaps).map((part) => {
    if (body[part] !== 0x7b) return undefined;
    // Of two members of one name, JSON.parse takes the last one, too.
    const member = membersOf(body, part, Number.POSITIVE_INFINITY, leaps).findLast((each) => each.name === name);
    return member === undefined ? undefined : asBuffer(body).toString("utf8", member.start, member.end);
  });
}

function parse(body: Uint8Array, start: number, end: number): unknown {
  return JSON.parse(asBuffer(body).toString("utf8", start, end));
}

/** The records of a list that may be none. */
export function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
