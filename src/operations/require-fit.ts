import { GatewayError } from "../errors/gateway-error.js";
import { requireOwnNames } from "../model-api/request/dialect-names.js";
import type { JsonRequest } from "../model-api/request/json-request.js";
import type { ProtocolTable } from "../model-api/tables/protocol-table.js";
import { leastTokens, tokenizedTokens } from "../openai/chat/least-tokens.js";
import type { ModelTraits } from "./operation.js";

/**
 * Refuses members that a model's targets do not let requests choose.
 * @param table - of the request's protocol.
 * @throws GatewayError 400
 */
export function requireAllowedMembers(
  request: JsonRequest,
  { rules, dialects }: Pick<ModelTraits, "rules" | "dialects">,
  table?: ProtocolTable,
): void {
  if (request.strangers.size > 0) {
    for (const dialect of dialects) requireOwnNames(request.strangers, dialect);
  }
  for (const rule of rules) rule.refuse(request, table);
}

/** @throws GatewayError 400 when the messages certainly exceed the model's context. */
export function requireMessagesFit(
  request: Parameters<typeof leastTokens>[0],
  { enforcesContext, contextLength, tokenizer }: ModelTraits,
): void {
  if (!enforcesContext) return;
  const isTooLong =
    leastTokens(request, contextLength) > contextLength ||
    (tokenizer !== undefined && tokenizedTokens(request, contextLength, tokenizer) > contextLength);
  if (isTooLong) throw contextLengthExceeded(contextLength, "messages");
}

/** @param param - the path of what is too long. */
export function contextLengthExceeded(contextLength: number, param: string): GatewayError {
  return new GatewayError(
    `This model's maximum context length is ${contextLength} tokens, and '${param}' has more. Shorten it.`,
    { status: 400, code: "context_length_exceeded", param },
  );
}
