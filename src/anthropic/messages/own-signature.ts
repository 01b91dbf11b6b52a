import { Buffer } from "node:buffer";
import { isRecord } from "../../wire/is-record.js";
import { JsonCheck } from "../../wire/json-syntax.js";

/** What the signatures of thinking that is not Anthropic's begin with. Clients send them back unchanged. */
export const ownSignaturePrefix = "ig1.";

/** Under the thinking of a model that speaks chat completions: what it takes back in its next turn. */
export interface OwnSignature {
  /** An opaque mark of where the thinking is from; nothing of the upstream can be read in it. */
  readonly origin: string;
  /** The thinking itself, where the client does not get to see it. */
  readonly text?: string | undefined;
  /** `reasoning_details` as they came. */
  readonly details?: readonly unknown[] | undefined;
  /** `extra_content` of the call that follows, such as a signature of Google's. */
  readonly extra?: Record<string, unknown> | undefined;
}

/** What a client sends back is bounded, in characters and levels. */
const longestSignature = 1_000_000;
const mostLevels = 32;

export function writeOwnSignature({ origin, text, details, extra }: OwnSignature): string {
  return ownSignaturePrefix + Buffer.from(JSON.stringify({ origin, text, details, extra })).toString("base64url");
}

/** `undefined` for the signature of another, and for what is none. */
export function readOwnSignature(signature: unknown): OwnSignature | undefined {
  if (typeof signature !== "string" || !signature.startsWith(ownSignaturePrefix)) return undefined;
  if (signature.length > longestSignature) return undefined;
  const json = Buffer.from(signature.slice(ownSignaturePrefix.length), "base64url");
  const check = new JsonCheck(json, mostLevels);
  check.run(json.length);
  if (check.fault !== undefined) return undefined;
  const said: unknown = JSON.parse(json.toString("utf8"));
  if (!isRecord(said) || typeof said["origin"] !== "string") return undefined;
  const { origin, text, details, extra } = said;
  return {
    origin,
    text: typeof text === "string" ? text : undefined,
    details: Array.isArray(details) ? details : undefined,
    extra: isRecord(extra) ? extra : undefined,
  };
}
