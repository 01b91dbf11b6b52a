import type { ModelEndpoint, ModelRequest } from "../endpoints/model-endpoint.js";
import { requireOwnNames } from "../openai/dialect-names.js";
import { GatewayError } from "../openai/errors.js";
import type { CatalogModel } from "./catalog.js";

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
