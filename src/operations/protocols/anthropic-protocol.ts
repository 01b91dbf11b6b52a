import { anthropicAuthorization } from "../../anthropic/credential.js";
import { anthropicErrorBody, anthropicErrorHeaders } from "../../anthropic/error-body.js";
import { anthropicModel, anthropicModelList, type ListedModel } from "../../anthropic/models-list.js";
import type { ClientProtocol, ShownModel } from "./client-protocol.js";
import { openAIProtocol } from "./openai-protocol.js";

/** The family of Anthropic's clients. */
export const anthropicProtocol: ClientProtocol = {
  credential(header) {
    const authorization = anthropicAuthorization(header);
    return openAIProtocol.credential((name) => (name === "authorization" ? authorization : header(name)));
  },
  requestIdHeader: "request-id",
  errorHeaders: anthropicErrorHeaders,
  errorBody: anthropicErrorBody,
  modelRecord: (model) => anthropicModel(toListed(model)),
  // All of them on one page: lists are short.
  modelList: (models) => anthropicModelList(models.map(toListed), { limit: String(models.length) }),
};

function toListed({ id, contextLength, maxOutputTokens, record }: ShownModel): ListedModel {
  const { created, display_name: name } = JSON.parse(record) as { created: number; display_name?: unknown };
  return { id, contextLength, maxOutputTokens, created, displayName: typeof name === "string" ? name : undefined };
}
