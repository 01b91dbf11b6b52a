import { Buffer } from "node:buffer";
import { isRecord } from "../../wire/is-record.js";

/**
 * What a model wants back of its thoughts while it calls tools, under the names that chat messages have for it: text, or
 * signed pieces.
 */
export interface ReasoningMembers {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly unknown[];
  /** The `extra_content` of calls, such as Google's signatures, by the ids of the calls. */
  readonly extra_content?: Readonly<Record<string, unknown>>;
}

/** Behind it stands what {@link writeReasoning} made; nothing that another server has encrypted begins so. */
export const ownReasoning = "ig1.";

/**
 * The `encrypted_content` of a reasoning item: what the client keeps and sends back. It holds nothing that the client was not
 * shown, or could not send by itself: it is encoded, and not encrypted.
 *
 * @param source - a mark of where it came from, since another model could not use it. Clients can read it.
 */
export function writeReasoning(source: string, members: ReasoningMembers): string {
  return ownReasoning + Buffer.from(JSON.stringify({ source, ...members })).toString("base64url");
}

/** What it said; `undefined` where another server has made it, or for another source. */
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

/** The JSON in one of the gateway's own. */
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
