import { editMembers, type MemberEdits, membersOf } from "./json-members.js";
import type { TokenCounts } from "./usage.js";

/** What the client gets for an upstream's whole answer. */
export interface ModelAnswer {
  /** Text where that is at hand: it leaves faster. */
  body: Uint8Array | string;
  tokens: TokenCounts;
  /** The upstream reported no usage: `tokens` are estimated. */
  estimated: boolean;
}

/** The answer with some of its members changed, everything else byte for byte as it was. */
export function editAnswer(bytes: Uint8Array, edits: MemberEdits): Uint8Array {
  return edits.size === 0 ? bytes : editMembers(bytes, membersOf(bytes), edits);
}
