import type { ErrorObject } from "../errors/gateway-error.js";

/** `{"error":{…}}` with exactly the four members that OpenAI's clients know (OpenAI reference, "Error codes"). */
export function openAIErrorBody({ message, type, param, code }: ErrorObject): string {
  // A host's own code may have left a member out. The body must be JSON all the same.
  const json = (value: string | null | undefined) => JSON.stringify(value ?? null);
  return `{"error":{"message":${json(message)},"type":${json(type)},"param":${json(param)},"code":${json(code)}}}`;
}
