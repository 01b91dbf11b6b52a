import { type Buffer, isAscii } from "node:buffer";
import { asBuffer } from "../wire/as-buffer.js";
import { isRecord } from "../wire/is-record.js";
import {
  editMembers,
  endOfValue,
  type MemberEdits,
  type MemberWriter,
  membersOf,
  skipSpace,
  splice,
  writeEdited,
} from "../wire/json-members.js";
import { JsonCheck } from "../wire/json-syntax.js";
import { valueSteps } from "../wire/sliced/value-steps.js";
import { type Steps, sliceBytes, slicesOf } from "../wire/slices.js";

/** Of an answer that is parsed in steps. */
const mostDepth = 256;

/** A whole response from an upstream. It is parsed on first access. */
export class ReceivedAnswer {
  readonly bytes: Uint8Array;
  #text: string | undefined;
  #json: unknown;
  #isParsed = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** The bytes as text. */
  get text(): string {
    this.#text ??= asBuffer(this.bytes).toString("utf8");
    return this.#text;
  }

  /** Parses a long text in steps. What is nested deeper than any answer counts as none. */
  *parse(): Steps<void> {
    if (this.#isParsed || this.bytes.length <= sliceBytes) return;
    this.#isParsed = true;
    const leaps = new Map<number, number>();
    const start = skipSpace(this.bytes, 0);
    const check = new JsonCheck(this.bytes, mostDepth, leaps);
    yield* slicesOf(check);
    if (check.fault !== undefined) return;
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
}

/** The response, a JSON object, with some members changed. Everything else stays as it was. */
export function editAnswer(answer: ReceivedAnswer, edits: MemberEdits): Uint8Array | string {
  const { bytes, json } = answer;
  if (edits.size === 0) return bytes;
  const model = edits.size === 1 && isRecord(json) && json["model"] !== undefined ? edits.get("model") : undefined;
  if (typeof model !== "string") return editAmongMembers(answer, edits);
  return replaceModel(answer, model) ?? replaceAmongMembers(bytes, model, edits);
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
function replaceAmongMembers(bytes: Uint8Array, model: string, edits: MemberEdits): Uint8Array {
  const members = membersOf(bytes);
  const [member, another] = members.filter(({ name }) => name === "model");
  if (member === undefined || another !== undefined) return editMembers(bytes, members, edits);
  return splice(bytes, member.start, member.end, model);
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
