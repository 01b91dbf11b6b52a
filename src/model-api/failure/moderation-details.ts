import { type RedactContext, redact } from "../../redaction/redact.js";
import { isRecord } from "../../wire/is-record.js";

/** The member of an error that has them. */
export const moderationMember = "moderation_details";

const mostMembers = 16;
const mostWords = 32;
const word = /^[\w ./-]{1,64}$/;

/**
 * Why a server has blocked a request, as OpenAI says it: words, numbers, and lists of them. Whatever else there is may be
 * anything, and is left out.
 */
export function moderationDetails(
  said: unknown,
  context: RedactContext,
): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(said)) return undefined;
  const isWord = (value: unknown) => typeof value === "string" && word.test(value) && redact(value, context) === value;
  const isPlain = (value: unknown) => typeof value === "boolean" || Number.isFinite(value) || isWord(value);
  const kept = Object.entries(said)
    .filter(([name, value]) => isWord(name) && (isPlain(value) || (Array.isArray(value) && value.every(isPlain))))
    .slice(0, mostMembers)
    .map(([name, value]) => [name, Array.isArray(value) ? value.slice(0, mostWords) : value]);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
