import { type Buffer, isAscii } from "node:buffer";
import { asBuffer } from "../wire/as-buffer.js";
import { isRecord } from "../wire/is-record.js";
import {
  editMembers,
  endOfValue,
  type JsonMember,
  type Leaps,
  type MemberEdits,
  type MemberWriter,
  membersOf,
  noLeaps,
  skipSpace,
  splice,
  writeEdited,
} from "../wire/json-members.js";
import { JsonCheck } from "../wire/json-syntax.js";
import { valueSteps } from "../wire/sliced/value-steps.js";
import { type Steps, sliceBytes, slicesOf } from "../wire/slices.js";

/** Of an answer that is checked before it is read. */
const mostDepth = 256;

/** Shorter ones are parsed in the time that it takes to leave anything out. */
const outlinePays = 2048;

/** Stands in an outline for a long text. */
const leftOut = "\u0000\u2026";
const leftOutJson = JSON.stringify(leftOut);
const noGaps: readonly number[] = [];

/** Whether a text is made of one that an outline leaves out. */
export function isLeftOut(text: string | undefined): boolean {
  return text?.includes(leftOut) === true;
}

/** A whole response from an upstream. It is parsed on first access. */
export class ReceivedAnswer {
  readonly bytes: Uint8Array;
  /** Where the texts begin that are left out of the JSON. */
  readonly gaps: readonly number[];
  /** Something was made of a text that is left out: all must be parsed. */
  isTooLittle = false;
  #text: string | undefined;
  #json: unknown;
  #isParsed = false;
  #check: JsonCheck | undefined;
  #leaps: Map<number, number> | undefined;

  constructor(bytes: Uint8Array, gaps = noGaps) {
    this.bytes = bytes;
    this.gaps = gaps;
  }

  /** The bytes as text. */
  get text(): string {
    this.#text ??= asBuffer(this.bytes).toString("utf8");
    return this.#text;
  }

  /** The ends of long values, by their starts, once the response was checked. */
  get leaps(): Leaps {
    return this.#leaps ?? noLeaps;
  }

  /** Checks a long text in steps. */
  *check(): Steps<void> {
    if (this.#check === undefined && this.bytes.length > sliceBytes) yield* slicesOf(this.#newCheck());
  }

  /**
   * The same without its long texts, which are not parsed.
   * @returns `undefined` where it is not one JSON object as any reader takes it, or has too few long texts.
   */
  outline(): ReceivedAnswer | undefined {
    if (this.bytes.length < outlinePays) return undefined;
    if (this.#check === undefined) this.#newCheck().run(this.bytes.length);
    if (this.#check?.fault !== undefined) return undefined;
    const source = asBuffer(this.bytes);
    const gaps: number[] = [];
    let text = "";
    let from = 0;
    for (const [start, end] of this.leaps) {
      if (source[start] !== 0x22) continue;
      text += source.toString("utf8", from, start) + leftOutJson;
      gaps.push(start);
      from = end;
      if (text.length > sliceBytes) return undefined;
    }
    if (gaps.length === 0 || text.length + source.length - from > sliceBytes) return undefined;
    const outline = new ReceivedAnswer(this.bytes, gaps);
    outline.#leaps = this.#leaps;
    outline.#json = JSON.parse(text + source.toString("utf8", from));
    outline.#isParsed = true;
    return outline;
  }

  /**
   * Parses a long text in steps.
   * @param anyJSON - whether also what is nested deeper than any answer, and the like; otherwise such a text counts as none.
   */
  *parse(anyJSON: boolean): Steps<void> {
    if (this.#isParsed || this.bytes.length <= sliceBytes) return;
    yield* this.check();
    const fault = this.#check?.fault;
    this.#isParsed = fault === undefined || fault.reason === "syntax" || !anyJSON;
    if (fault !== undefined) return;
    const { leaps } = this;
    const start = skipSpace(this.bytes, 0);
    this.#json = yield* valueSteps(this.bytes, { start, end: endOfValue(this.bytes, start, leaps) }, leaps);
  }

  /** The parsed text; `undefined` when it is not JSON. */
  get json(): unknown {
    if (!this.#isParsed) {
      this.#isParsed = true;
      try {
        this.#json = JSON.parse(this.text);
      } catch {
        this.#json = undefined;
      }
    }
    return this.#json;
  }

  #newCheck(): JsonCheck {
    this.#leaps = new Map();
    this.#check = new JsonCheck(this.bytes, mostDepth, this.#leaps);
    return this.#check;
  }
}

/** The response, a JSON object, with some members changed. Everything else stays as it was. */
export function editAnswer(answer: ReceivedAnswer, edits: MemberEdits): Uint8Array | string {
  const { bytes, json } = answer;
  if (edits.size === 0) return bytes;
  if (answer.gaps.length > 0) return editOutlined(answer, edits);
  const model = edits.size === 1 && isRecord(json) && json["model"] !== undefined ? edits.get("model") : undefined;
  if (typeof model !== "string") return editAmongMembers(answer, edits);
  return replaceModel(answer, model) ?? replaceAmong(bytes, membersOf(bytes), model);
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
  if (bytes.length > shortAnswer || !isAscii(bytes)) return editMembers(bytes, members, edits);
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

/** Longer responses are sent as bytes. */
export const shortAnswer = 16 * 1024;

/** Most responses need only a new model name. This finds it without a list of all members. */
function replaceModel({ bytes, text }: ReceivedAnswer, model: string): Uint8Array | string | undefined {
  const isPlain = isAscii(bytes);
  // In latin1 each byte is one character, whatever it means. A string is faster to search than bytes.
  const searched = isPlain ? text : asBuffer(bytes).toString("latin1");
  const start = findModel(bytes, searched);
  if (start === undefined) return undefined;
  const end = endOfValue(bytes, start);
  if (bytes.length > shortAnswer || !isPlain) return splice(bytes, start, end, model);
  return text.slice(0, start) + model + text.slice(end);
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
