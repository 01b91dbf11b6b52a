import type { ErrorObject } from "../errors/gateway-error.js";
import { moderationMember } from "../model-api/failure/moderation-details.js";

type ShownError = ErrorObject & { readonly details?: Readonly<Record<string, unknown>> | undefined };

/** `{"error":{…}}` with exactly the four members that OpenAI's clients know (OpenAI reference, "Error codes"), but for blocked requests. */
export function openAIErrorBody({ message, type, param, code, details }: ShownError): string {
  // A host's own code may have left a member out. The body must be JSON all the same.
  const json = (value: unknown) => JSON.stringify(value ?? null);
  const moderation = details?.[moderationMember];
  const more = moderation === undefined ? "" : `,"${moderationMember}":${json(moderation)}`;
  return `{"error":{"message":${json(message)},"type":${json(type)},"param":${json(param)},"code":${json(code)}${more}}}`;
}
