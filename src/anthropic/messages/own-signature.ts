import { isRecord } from "../../wire/is-record.js";
import { readOwnPayload, writeOwnPayload } from "../../wire/own-payload.js";

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

export function writeOwnSignature({ origin, text, details, extra }: OwnSignature): string {
  return writeOwnPayload({ origin, text, details, extra });
}

/** `undefined` for the signature of another, and for what is none. */
export function readOwnSignature(signature: unknown): OwnSignature | undefined {
  const { origin, text, details, extra } = readOwnPayload(signature) ?? {};
  if (typeof origin !== "string") return undefined;
  return {
    origin,
    text: typeof text === "string" ? text : undefined,
    details: Array.isArray(details) ? details : undefined,
    extra: isRecord(extra) ? extra : undefined,
  };
}
