import { Buffer } from "node:buffer";
import { elementsOf, endOfValue, type JsonMember, type Leaps, memberOf, membersOf } from "./json-members.js";

/** What is to be changed inside the messages of a request. */
export interface MessageRules {
  /** What the role `developer` becomes. */
  developerRole?: string | undefined;
  /** Members that are left out. */
  dropped?: readonly string[] | undefined;
  /** Images are replaced by a text that says so. */
  withoutImages?: boolean;
}

/** New text for a stretch of the old. */
interface Replacement {
  start: number;
  end: number;
  text: string;
}

/**
 * The messages with the rules applied, spliced: all that no rule concerns stays byte for byte. The text must be valid.
 *
 * @param start - where the array begins.
 * @returns `undefined` when there is nothing to change.
 */
export function editMessages(
  body: Uint8Array,
  start: number,
  leaps: Leaps,
  rules: MessageRules,
): Uint8Array | undefined {
  const replacements: Replacement[] = [];
  for (const message of elementsOf(body, start, leaps)) {
    const members = membersOf(body, message, Number.POSITIVE_INFINITY, leaps);
    for (const [index, member] of members.entries()) {
      if (rules.dropped?.includes(member.name)) replacements.push(withoutMember(members, index, rules.dropped));
      else if (member.name === "role" && rules.developerRole !== undefined && isText(body, member, "developer")) {
        replacements.push({ start: member.start, end: member.end, text: JSON.stringify(rules.developerRole) });
      } else if (member.name === "content" && rules.withoutImages) {
        for (const part of imageParts(body, member.start, leaps)) {
          replacements.push({ start: part.start, end: part.end, text: imageNotice });
        }
      }
    }
  }
  return replacements.length === 0 ? undefined : splice(body, start, endOfValue(body, start, leaps), replacements);
}

/** Where an image stands among the parts of a content. */
export interface ImagePart {
  /** Its place in the array. */
  index: number;
  start: number;
  end: number;
}

/** The images of a message's content. A content that is no array has none. */
export function imageParts(body: Uint8Array, content: number, leaps: Leaps): ImagePart[] {
  if (body[content] !== 0x5b) return [];
  const parts: ImagePart[] = [];
  for (const [index, start] of elementsOf(body, content, leaps).entries()) {
    if (body[start] !== 0x7b) continue;
    const type = memberOf(membersOf(body, start, Number.POSITIVE_INFINITY, leaps), "type");
    if (type === undefined || !imageTypes.some((name) => isText(body, type, name))) continue;
    parts.push({ index, start, end: endOfValue(body, start, leaps) });
  }
  return parts;
}

/** OpenAI's name, and the one that its Responses API has for the same. */
const imageTypes = ["image_url", "input_image"];

const imageNotice = '{"type":"text","text":"[image omitted]"}';

/** Takes a comma along: the one before it, or that behind it while nothing before it stays. */
function withoutMember(members: readonly JsonMember[], index: number, dropped: readonly string[]): Replacement {
  const member = members[index] as JsonMember;
  const next = members[index + 1];
  const isFirst = members.slice(0, index).every(({ name }) => dropped.includes(name));
  if (!isFirst) return { start: (members[index - 1] as JsonMember).end, end: member.end, text: "" };
  return { start: member.nameStart, end: next === undefined ? member.end : next.nameStart, text: "" };
}

function isText(body: Uint8Array, { start, end }: { start: number; end: number }, text: string): boolean {
  if (body[start] !== 0x22) return false;
  const written = Buffer.from(body.buffer, body.byteOffset + start, end - start).toString("utf8");
  return written === `"${text}"` || (written.includes("\\") && JSON.parse(written) === text);
}

function splice(body: Uint8Array, start: number, end: number, replacements: readonly Replacement[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let from = start;
  for (const replacement of replacements) {
    pieces.push(body.subarray(from, replacement.start), Buffer.from(replacement.text));
    from = replacement.end;
  }
  pieces.push(body.subarray(from, end));
  return Buffer.concat(pieces);
}
