import type { Buffer } from "node:buffer";
import { runtime } from "../../runtime/this-runtime.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { isRecord } from "../../wire/is-record.js";
import {
  editMembers,
  endOfValue,
  type JsonMember,
  type MemberEdits,
  type MemberWriter,
  membersOf,
  skipSpace,
  splice,
  writeEdited,
} from "../../wire/json-members.js";
import { AnswerEdits } from "./answer-edits.js";
import type { ReceivedAnswer } from "./received-answer.js";

/** Longer responses are sent as bytes. */
const shortAnswer = 16 * 1024;

/** The response, a JSON object, with some members changed. Everything else stays as it was. */
export function editAnswer(answer: ReceivedAnswer, edits: MemberEdits | AnswerEdits): Uint8Array | string {
  const { bytes, json } = answer;
  if (edits.size === 0) return bytes;
  if (answer.gaps.length > 0) return editOutlined(answer, mapOf(edits));
  const model = edits.size === 1 && isRecord(json) && json["model"] !== undefined ? edits.get("model") : undefined;
  if (typeof model !== "string") return editAmongMembers(answer, mapOf(edits));
  return replaceModel(answer, model) ?? replaceAmong(bytes, membersOf(bytes), model);
}

function mapOf(edits: MemberEdits | AnswerEdits): MemberEdits {
  return edits instanceof AnswerEdits ? edits.toMap() : edits;
}

/** What takes the place of a member must not be made of the outline of one. */
function editOutlined(answer: ReceivedAnswer, edits: MemberEdits): Uint8Array {
  const { bytes, gaps, leaps } = answer;
  const members = membersOf(bytes, 0, Number.POSITIVE_INFINITY, leaps);
  for (const { name, start, end } of members) {
    const isReplaced = typeof edits.get(name) === "string";
    if (isReplaced && gaps.some((gap) => gap >= start && gap < end)) answer.isTooLittle = true;
  }
  const model = edits.size === 1 ? edits.get("model") : undefined;
  return typeof model === "string" ? replaceAmong(bytes, members, model) : editMembers(bytes, members, edits);
}

function editAmongMembers({ bytes, text }: ReceivedAnswer, edits: MemberEdits): Uint8Array | string {
  const members = membersOf(bytes);
  if (bytes.length > shortAnswer || !runtime.isAscii(bytes)) return editMembers(bytes, members, edits);
  const out = new TextWriter(text);
  writeEdited(out, asBuffer(bytes), members, edits);
  return out.text;
}

/** Gathers text of ASCII: in short responses, that is faster than bytes. */
class TextWriter implements MemberWriter {
  text = "";
  readonly #source: string;

  /** @param source - the bytes that are written from, as text. */
  constructor(source: string) {
    this.#source = source;
  }

  write(bytes: Uint8Array): void {
    this.text += asBuffer(bytes).toString();
  }

  writeFrom(_: Buffer, start: number, end: number): void {
    this.text += this.#source.slice(start, end);
  }

  writeText(text: string): void {
    this.text += text;
  }
}

/** Most responses need only a new model name. This finds it without a list of all members. */
function replaceModel(answer: ReceivedAnswer, model: string): Uint8Array | string | undefined {
  const { bytes } = answer;
  // In latin1 each byte is one character, whatever it means. A string is faster to search than bytes.
  const searched = runtime.isAscii(bytes) ? answer.text : asBuffer(bytes).toString("latin1");
  const start = findModel(bytes, searched);
  if (start === undefined) return undefined;
  return spliceAnswer(answer, start, endOfValue(bytes, start), model);
}

/** The response with other JSON in place of a value. */
export function spliceAnswer(answer: ReceivedAnswer, start: number, end: number, json: string): Uint8Array | string {
  const { bytes } = answer;
  if (bytes.length > shortAnswer || !runtime.isAscii(bytes)) return splice(bytes, start, end, json);
  const { text } = answer;
  return text.slice(0, start) + json + text.slice(end);
}

/** The same as {@link replaceModel}, with a list of all members. */
function replaceAmong(bytes: Uint8Array, members: readonly JsonMember[], model: string): Uint8Array {
  const [member, another] = members.filter(({ name }) => name === "model");
  if (member !== undefined && another === undefined) return splice(bytes, member.start, member.end, model);
  return editMembers(bytes, members, new Map([["model", model]]));
}

const modelName = '"model"';
/**
 * The end of the name. Quotes are frequent, so a search for the end of the name is faster than one that begins with a
 * quote.
 */
const nameEnd = 'model"';
const colon = 0x3a;

/** The start of the value of `model`, if the text contains that name exactly once. */
function findModel(bytes: Uint8Array, text: string): number | undefined {
  const found = text.indexOf(modelName);
  if (found < 0) return undefined;
  const end = found + modelName.length;
  const separator = skipSpace(bytes, end);
  // A response always has its own `model`. The match could only be another one if there were two, or if the response's
  // own name contained escapes.
  if (bytes[separator] !== colon || text.includes(nameEnd, end) || text.includes("\\u")) return undefined;
  return skipSpace(bytes, separator + 1);
}
