import { Buffer } from "node:buffer";
import { isRecord } from "../../wire/is-record.js";

/** Reasoning that a model needs back between tool calls, under the names of chat messages: text, or signed pieces. */
export interface ReasoningMembers {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly unknown[];
  /** The `extra_content` of calls, such as Google's signatures, by the ids of the calls. */
  readonly extra_content?: Readonly<Record<string, unknown>>;
}

/** The prefix of the text that {@link writeReasoning} makes. No other server's encrypted content begins with it. */
export const ownReasoning = "ig1.";

/**
 * The `encrypted_content` of a reasoning item, which the client keeps and sends back. It contains only what the client
 * may see. It is encoded, not encrypted.
 *
 * @param source - a mark of the target, since another model could not use it. Clients can read it.
 */
export function writeReasoning(source: string, members: ReasoningMembers): string {
  return ownReasoning + Buffer.from(JSON.stringify({ source, ...members })).toString("base64url");
}

/** The decoded reasoning; `undefined` when another server made it, or it is for another source. */
export function readReasoning(encrypted: unknown, source: string): ReasoningMembers | undefined {
  if (typeof encrypted !== "string" || !encrypted.startsWith(ownReasoning)) return undefined;
  const payload = parse(decodeReasoning(encrypted));
  if (!isRecord(payload) || payload["source"] !== source) return undefined;
  const { reasoning_content: content, reasoning, reasoning_details: details, extra_content: extra } = payload;
  return {
    ...(typeof content === "string" ? { reasoning_content: content } : undefined),
    ...(typeof reasoning === "string" ? { reasoning } : undefined),
    ...(Array.isArray(details) ? { reasoning_details: details } : undefined),
    ...(isRecord(extra) ? { extra_content: extra } : undefined),
  };
}

/** The JSON of a payload that the gateway made. */
export function decodeReasoning(encrypted: string): string {
  return Buffer.from(encrypted.slice(ownReasoning.length), "base64url").toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
