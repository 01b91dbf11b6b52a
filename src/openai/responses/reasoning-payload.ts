import { isRecord } from "../../wire/is-record.js";
import { readOwnPayload, writeOwnPayload } from "../../wire/own-payload.js";

/** Reasoning that a model needs back between tool calls, under the names of chat messages: text, or signed pieces. */
export interface ReasoningMembers {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly unknown[];
  /** The `extra_content` of calls, such as Google's signatures, by the ids of the calls. */
  readonly extra_content?: Readonly<Record<string, unknown>>;
}

/**
 * The `encrypted_content` of a reasoning item, which the client keeps and sends back. It contains only what the client
 * may see. It is encoded, not encrypted.
 *
 * @param origin - an opaque mark of the target, since another model could not use it. Clients can read it.
 */
export function writeReasoning(origin: string, members: ReasoningMembers): string {
  return writeOwnPayload({ origin, ...members });
}

/** The decoded reasoning; `undefined` when another server made it, or it is from another origin. */
export function readReasoning(encrypted: unknown, origin: string): ReasoningMembers | undefined {
  const payload = readOwnPayload(encrypted);
  if (payload === undefined || payload["origin"] !== origin) return undefined;
  const { reasoning_content: content, reasoning, reasoning_details: details, extra_content: extra } = payload;
  return {
    ...(typeof content === "string" ? { reasoning_content: content } : undefined),
    ...(typeof reasoning === "string" ? { reasoning } : undefined),
    ...(Array.isArray(details) ? { reasoning_details: details } : undefined),
    ...(isRecord(extra) ? { extra_content: extra } : undefined),
  };
}
