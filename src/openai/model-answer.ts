import { isAscii } from "node:buffer";
import { asBuffer } from "./as-buffer.js";
import { editMembers, endOfValue, type MemberEdits, membersOf, skipSpace, splice } from "./json-members.js";
import type { TokenCounts } from "./usage.js";

/** What the client gets for an upstream's whole answer. */
export interface ModelAnswer {
  /** Text where that is at hand: it leaves faster. */
  body: Uint8Array | string;
  tokens: TokenCounts;
  /** The upstream reported no usage: `tokens` are estimated. */
  estimated: boolean;
}

/**
 * The answer with some of its members changed, everything else as it was.
 * @param bytes - a JSON object.
 * @param answer - the parsed `bytes`.
 */
export function editAnswer(
  bytes: Uint8Array,
  answer: Readonly<Record<string, unknown>>,
  edits: MemberEdits,
): Uint8Array | string {
  if (edits.size === 0) return bytes;
  const model = edits.size === 1 && answer["model"] !== undefined ? edits.get("model") : undefined;
  return (
    (typeof model === "string" ? replaceModel(bytes, model) : undefined) ?? editMembers(bytes, membersOf(bytes), edits)
  );
}

/** Longer answers leave as bytes. */
const shortAnswer = 16 * 1024;

/** Most answers need no other change, and then it takes no list of all members to find the one. */
function replaceModel(bytes: Uint8Array, model: string): Uint8Array | string | undefined {
  // A character for each byte, whatever it stands for: text is searched faster than bytes are.
  const text = asBuffer(bytes).toString("latin1");
  const start = findModel(bytes, text);
  if (start === undefined) return undefined;
  const end = endOfValue(bytes, start);
  if (bytes.length > shortAnswer || !isAscii(bytes)) return splice(bytes, start, end, model);
  return text.slice(0, start) + model + text.slice(end);
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
