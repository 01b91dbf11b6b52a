import type { ThoughtSeal } from "../../seal/thought-seal.js";
import { isRecord } from "../../wire/is-record.js";

/** Reasoning that a model needs back between tool calls, under the names of chat messages: text, or signed pieces. */
export interface ReasoningMembers {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly unknown[];
  /** The `extra_content` of calls, such as Google's signatures, by the ids of the calls. */
  readonly extra_content?: Readonly<Record<string, unknown>>;
}

/** The `encrypted_content` of a reasoning item, which the client keeps and sends back: what the client may see. */
export function writeReasoning(thoughts: ThoughtSeal, members: ReasoningMembers): string {
  return thoughts.write(members);
}

/** The decoded reasoning; `undefined` for what is another target's, another account's, another server's, or changed. */
export function readReasoning(thoughts: ThoughtSeal, encrypted: unknown): ReasoningMembers | undefined {
  const payload = thoughts.read(encrypted);
  if (payload === undefined) return undefined;
  const { reasoning_content: content, reasoning, reasoning_details: details, extra_content: extra } = payload;
  return {
    ...(typeof content === "string" ? { reasoning_content: content } : undefined),
    ...(typeof reasoning === "string" ? { reasoning } : undefined),
    ...(Array.isArray(details) ? { reasoning_details: details } : undefined),
    ...(isRecord(extra) ? { extra_content: extra } : undefined),
  };
}
