import { Buffer } from "node:buffer";
import { type ErrorObject, type GatewayError, missingKey } from "../../errors/gateway-error.js";
import { isFinalRefusal } from "../../errors/refusal.js";
import { RepeatedError } from "../../errors/repeated-error.js";
import { type RedactContext, redact } from "../../redaction/redact.js";
import { isRecord } from "../../wire/is-record.js";
import type { ClientProtocol } from "./client-protocol.js";

/** RFC 6750, section 2.1; the scheme's case does not matter (RFC 9110, section 11.1). */
const bearer = /^bearer +[A-Za-z0-9._~+/=-]+ *$/i;
const scheme = "bearer";

const missing = (message: string) => RepeatedError.of(missingKey(message));
const noKey = missing("You did not provide an API key. Send it as a header: Authorization: Bearer YOUR_KEY.");
const malformed = missing("The Authorization header is malformed. Send it once, as: Authorization: Bearer YOUR_KEY.");

/** The family of OpenAI's clients. */
export const openAIProtocol: ClientProtocol = {
  credential(request) {
    const authorization = request.header("authorization");
    if (authorization === undefined || authorization.trim() === "") {
      throw noKey;
    }
    // Two headers arrive joined by a comma, and are refused for it.
    if (!bearer.test(authorization)) {
      throw malformed;
    }
    return authorization.slice(scheme.length).trim();
  },
  errorBody: openAIErrorBody,
  // Some clients repeat every refusal but a 400, unless a header tells them not to.
  errorHeaders: ({ status, headers }) =>
    isFinalRefusal(status) && status !== 400 ? { "x-should-retry": "false", ...headers } : headers,
  modelRecord: ({ record }) => record,
  modelList: (models) => `{"object":"list","data":[${models.map(({ record }) => record).join(",")}]}`,
};

type ShownError = ErrorObject & { readonly details?: Readonly<Record<string, unknown>> | undefined };

/** `{"error":{…}}` with exactly the four members that OpenAI's clients know (OpenAI reference, "Error codes"), but for blocked requests. */
export function openAIErrorBody({ message, type, param, code, details }: ShownError): string {
  // A host's own code may have left a member out. The body must be JSON all the same.
  const json = (value: unknown) => JSON.stringify(value ?? null);
  const moderation = details?.[moderationMember];
  const more = moderation === undefined ? "" : `,"${moderationMember}":${json(moderation)}`;
  return `{"error":{"message":${json(message)},"type":${json(type)},"param":${json(param)},"code":${json(code)}${more}}}`;
}

/** What ends a stream that has failed, as OpenAI's clients know it. */
export function errorEvent(error: GatewayError): Buffer {
  return Buffer.from(`data: ${openAIErrorBody(error)}\n\n`);
}

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
