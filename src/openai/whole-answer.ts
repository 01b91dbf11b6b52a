import { editMembers, editText, membersOf } from "./json-members.js";
import type { TokenCounts } from "./usage.js";

/** What an upstream sent. */
export interface WholeAnswer {
  bytes: Uint8Array;
  /** `bytes` as text, where they are nothing but ASCII. */
  text: string | undefined;
  /** `bytes`, parsed; `undefined` where they are no JSON. */
  json: unknown;
}

/** What the client gets for it. */
export interface ModelAnswer {
  /** Text where the answer is nothing but ASCII: it leaves faster. */
  body: Uint8Array | string;
  tokens: TokenCounts;
  /** The upstream reported no usage: `tokens` are estimated. */
  estimated: boolean;
}

/** The answer with some of its members changed, everything else byte for byte as it was. */
export function edited(
  bytes: Uint8Array,
  text: string | undefined,
  edits: ReadonlyMap<string, string | null>,
): Uint8Array | string {
  if (edits.size === 0) return text ?? bytes;
  const members = membersOf(bytes);
  return text === undefined ? editMembers(bytes, members, edits) : editText(text, members, edits);
}
