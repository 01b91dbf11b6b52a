import { beyondTarget } from "../../errors/refusal.js";
import { asBuffer } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { elementsOf, endOfValue, type JsonMember, memberOf, membersOf } from "../../wire/json-members.js";
import { noSkips, type Skips } from "../../wire/skip-table.js";
import type { SliceCount, Steps } from "../../wire/slices.js";
import { moreValuesSteps, valueSteps } from "../../wire/value-steps.js";
import type { ResponsesRequest } from "../responses/responses-request.js";
import type { JsonRequest } from "../shared/json-request.js";

/** The members of a request whose sizes were checked. */
export interface RequestMembers {
  readonly body: Uint8Array;
  readonly members: readonly JsonMember[];
  readonly skips: Skips;
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
export function requestValue({ body, members }: Omit<RequestMembers, "skips">, name: string): unknown {
  const member = memberOf(members, name);
  return member === undefined ? undefined : (parse(body, member.start, member.end) ?? undefined);
}

/** The value of a member, made in steps: of those that may be long. */
export function* valueOfSteps({ body, members, skips }: RequestMembers, name: string): Steps<unknown> {
  const member = memberOf(members, name);
  return member === undefined ? undefined : ((yield* valueSteps(body, member, skips)) ?? undefined);
}

/** Where the messages begin. */
export function messageStarts({ body, members, skips }: RequestMembers): readonly number[] {
  const messages = memberOf(members, "messages");
  return messages === undefined ? [] : elementsOf(body, messages.start, skips);
}

/** Where a message stands in its request. */
interface MessagePlace {
  readonly index: number;
  readonly start: number;
}

/**
 * Reads a message. @param count - of the whole work.
 * @param rawName - a member of parts of which the text counts: numbers of more digits than a double has are in it as they are.
 * @returns `undefined` where it is no object.
 */
export function* messageSteps(
  { body, skips }: RequestMembers,
  { index, start }: MessagePlace,
  count: SliceCount,
  rawName?: string,
): Steps<RequestMessage | undefined> {
  const value = yield* valueSteps(body, { start, end: endOfValue(body, start, skips) }, skips, count);
  if (!isRecord(value)) return undefined;
  const raw = rawName === undefined ? [] : rawParts(body, start, rawName, skips);
  return { role: String(value["role"]), members: value, path: `messages[${index}]`, raw };
}

/** For the parts of a message's content, the text of their members of a name. @param message - where it begins. */
export function rawParts(
  body: Uint8Array,
  message: number,
  name: string,
  skips: Skips = noSkips,
): readonly (string | undefined)[] {
  const content = memberOf(membersOf(body, message, Number.POSITIVE_INFINITY, skips), "content");
  if (content === undefined || body[content.start] !== 0x5b) return [];
  return elementsOf(body, content.start, skips).map((part) => {
    if (body[part] !== 0x7b) return undefined;
    // Of two members of one name, JSON.parse takes the last one, too.
    const member = membersOf(body, part, Number.POSITIVE_INFINITY, skips).findLast((each) => each.name === name);
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

/** Far more than a conversation and its tools hold: a translation makes values of all of them at once. */
const mostValues = 2 ** 18;

/**
 * The bound of what is translated, whatever the protocols.
 * @param param - the member that holds the conversation.
 * @throws GatewayError 400, for this target alone.
 */
export function* fewValuesSteps({ body, skips }: Pick<JsonRequest, "body" | "skips">, param: string): Steps<void> {
  // A value has at least two bytes, with what stands between it and the next.
  if (body.length < mostValues || !(yield* moreValuesSteps(body, skips, { all: mostValues }))) return;
  throw beyondTarget(param, `A request to this model must hold at most ${mostValues} JSON values. Shorten it.`);
}

/** The value of a request's member; `undefined` where it is absent. */
export function memberValue(request: ResponsesRequest, name: string): unknown {
  const member = memberOf(request.members, name);
  return member === undefined ? undefined : parseSpan(request, member);
}

/** A value within a request. */
function parseSpan({ body }: ResponsesRequest, { start, end }: Pick<JsonMember, "start" | "end">): unknown {
  return JSON.parse(asBuffer(body).toString("utf8", start, end));
}
