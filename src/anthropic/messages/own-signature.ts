import type { ThoughtSeal } from "../../seal/thought-seal.js";
import { isRecord } from "../../wire/is-record.js";

/** Under the thinking of a model that speaks chat completions: what it takes back in its next turn. */
export interface OwnSignature {
  /** The thinking itself, where the client does not get to see it. */
  readonly text?: string | undefined;
  /** `reasoning_details` as they came. */
  readonly details?: readonly unknown[] | undefined;
  /** `extra_content` of the call that follows, such as a signature of Google's. */
  readonly extra?: Record<string, unknown> | undefined;
}

export function writeOwnSignature(thoughts: ThoughtSeal, { text, details, extra }: OwnSignature): string {
  return thoughts.write({ text, details, extra });
}

/** `undefined` for the signature of another, and for what is none. */
export function readOwnSignature(thoughts: ThoughtSeal, signature: unknown): OwnSignature | undefined {
  const members = thoughts.read(signature);
  if (members === undefined) return undefined;
  const { text, details, extra } = members;
  return {
    text: typeof text === "string" ? text : undefined,
    details: Array.isArray(details) ? details : undefined,
    extra: isRecord(extra) ? extra : undefined,
  };
}
