import { Buffer } from "node:buffer";
import { isRecord } from "./is-record.js";
import { findJsonFault } from "./json-syntax.js";

/** The beginning of what the gateway gives clients to keep and send back. Nothing of another server's begins so. */
export const ownPayloadPrefix = "ig1.";

/** A client can change what it sends back: in characters, and in levels. */
const longestPayload = 1_000_000;
const mostLevels = 32;

/** Clients can decode the payload: it is encoded, not encrypted. */
export function writeOwnPayload(value: object): string {
  return ownPayloadPrefix + Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** The payload's value; `undefined` where another server made the text, or the client damaged it. */
export function readOwnPayload(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== "string" || !text.startsWith(ownPayloadPrefix) || text.length > longestPayload) return undefined;
  const json = decodeOwnPayload(text);
  if (findJsonFault(json, mostLevels) !== undefined) return undefined;
  const value: unknown = JSON.parse(json.toString());
  return isRecord(value) ? value : undefined;
}

/** The bytes of a payload, which need not be JSON. */
export function decodeOwnPayload(text: string): Buffer {
  return Buffer.from(text.slice(ownPayloadPrefix.length), "base64url");
}
