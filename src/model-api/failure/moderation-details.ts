import { type RedactContext, redact } from "../../redaction/redact.js";
import { isRecord } from "../../wire/is-record.js";

/** The member of an error that has them. */
export const moderationMember = "moderation_details";

/** No server says more, and each word is looked at. */
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
  // They are the server's categories, and not what the client has sent.
  const { upstreamModel, model, secrets } = context;
  const others = { upstreamModel, model, secrets };
  const isWord = (value: unknown) => typeof value === "string" && word.test(value) && redact(value, others) === value;
  const isPlain = (value: unknown) => typeof value === "boolean" || Number.isFinite(value) || isWord(value);
  const kept = Object.entries(said)
    .slice(0, mostMembers)
    .map(([name, value]): [string, unknown] => [name, Array.isArray(value) ? value.slice(0, mostWords) : value])
    .filter(([name, value]) => isWord(name) && (Array.isArray(value) ? value.every(isPlain) : isPlain(value)));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
