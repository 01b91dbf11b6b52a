import type { ErrorObject } from "../errors/gateway-error.js";

/** `{"error":{…}}` with exactly the four members that OpenAI's clients know (OpenAI reference, "Error codes"). */
export function openAIErrorBody({ message, type, param, code }: ErrorObject): string {
  // What a host's own code has left out is still no reason for a body that is no JSON.
  const json = (value: string | null | undefined) => JSON.stringify(value ?? null);
  return `{"error":{"message":${json(message)},"type":${json(type)},"param":${json(param)},"code":${json(code)}}}`;
}
