import type { CatalogModel } from "../../access/catalog.js";
import { GatewayError } from "../../errors/gateway-error.js";
import { requireOwnNames } from "../../openai/request/dialect-names.js";
import type { ModelEndpoint, ModelRequest } from "../../operations/model-endpoint.js";

/**
 * Refuses what the model could not answer, before anything is held or called.
 * @throws GatewayError 400
 */
export function requireFit(endpoint: ModelEndpoint, request: ModelRequest, model: CatalogModel): void {
  const { id, rules, lacking, contextLength, enforcesContext, tokenizer } = model;
  if (request.strangers.size > 0) {
    for (const { provider } of model.route?.targets ?? [model.target]) {
      requireOwnNames(request.strangers, provider.dialect);
    }
  }
  for (const rule of rules) rule.refuse(request);
  if (lacking !== undefined) endpoint.refuseLacking?.(request, id, lacking);
  if (!enforcesContext) return;
  const param = endpoint.findTooLong(request, contextLength, tokenizer);
  if (param === undefined) return;
  throw new GatewayError(
    `This model's maximum context length is ${contextLength} tokens, and '${param}' has more. Shorten it.`,
    { status: 400, code: "context_length_exceeded", param },
  );
}
