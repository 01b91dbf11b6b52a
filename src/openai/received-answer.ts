import { isAscii } from "node:buffer";
import { asBuffer } from "../wire/as-buffer.js";
import { isRecord } from "../wire/is-record.js";
import { editMembers, endOfValue, type MemberEdits, membersOf, skipSpace, splice } from "../wire/json-members.js";

/** A whole answer as it came from an upstream. What it says is read when it is asked for. */
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

  /** The text, parsed; `undefined` where it is no JSON. */
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

/** The answer, a JSON object, with some of its members changed, everything else as it was. */
export function editAnswer(answer: ReceivedAnswer, edits: MemberEdits): Uint8Array | string {
  const { bytes, json } = answer;
  if (edits.size === 0) return bytes;
  const model = edits.size === 1 && isRecord(json) && json["model"] !== undefined ? edits.get("model") : undefined;
  if (typeof model !== "string") return editMembers(bytes, membersOf(bytes), edits);
  return replaceModel(answer, model) ?? replaceAmongMembers(bytes, model, edits);
}

/** Longer answers leave as bytes. */
export const shortAnswer = 16 * 1024;

/** Most answers need no other change, and then it takes no list of all members to find the one. */
function replaceModel({ bytes, text }: ReceivedAnswer, model: string): Uint8Array | string | undefined {
  const isPlain = isAscii(bytes);
  // A character for each byte, whatever it stands for: text is searched faster than bytes are.
  const searched = isPlain ? text : asBuffer(bytes).toString("latin1");
  const start = findModel(bytes, searched);
  if (start === undefined) return undefined;
  const end = endOfValue(bytes, start);
  if (bytes.length > shortAnswer || !isPlain) return splice(bytes, start, end, model);
  return text.slice(0, start) + model + text.slice(end);
}

/** What {@link replaceModel} does, after a look at all members. */
function replaceAmongMembers(bytes: Uint8Array, model: string, edits: MemberEdits): Uint8Array {
  const members = membersOf(bytes);
  const [member, another] = members.filter(({ name }) => name === "model");
  if (member === undefined || another !== undefined) return editMembers(bytes, members, edits);
  return splice(bytes, member.start, member.end, model);
}

const modelName = '"model"';
/** The end of the name alone: quotes are so frequent that to look for one takes longer. */
const nameEnd = 'model"';
const colon = 0x3a;

/** Where the value of an answer's `model` begins, which it has, if that is the one member of this name in the text. */
function findModel(bytes: Uint8Array, text: string): number | undefined {
  const found = text.indexOf(modelName);
  if (found < 0) return undefined;
  const end = found + modelName.length;
  const separator = skipSpace(bytes, end);
  // The answer's own name is found, whatever else there is. So what is found could be another object's, or the end of a
  // longer name, only if there were a second one, or the answer's own was spelled with escapes.
  if (bytes[separator] !== colon || text.includes(nameEnd, end) || text.includes("\\u")) return undefined;
  return skipSpace(bytes, separator + 1);
}
