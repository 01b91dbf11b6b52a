import { anthropicKey } from "../../anthropic/anthropic-key.js";
import { anthropicError, anthropicErrorHeaders, withRequestId } from "../../anthropic/error-body.js";
import { anthropicModel, anthropicModelList, type ListedModel } from "../../anthropic/models-list.js";
import type { ClientProtocol, ShownModel } from "./client-protocol.js";

/** The family of Anthropic's clients. */
export const anthropicProtocol: ClientProtocol = {
  credential: (request) => anthropicKey((name) => request.header(name)),
  requestIdHeader: "request-id",
  errorHeaders: anthropicErrorHeaders,
  errorBody: anthropicError,
  nameRequest: withRequestId,
  modelRecord: (model) => anthropicModel(toListed(model)),
  modelList: (models) => anthropicModelList(models.map(toListed)),
};

function toListed({ id, alias = id, contextLength, maxOutputTokens, record }: ShownModel): ListedModel {
  const { created, display_name: name } = JSON.parse(record) as { created: number; display_name?: unknown };
  // An alias is called by the id that it stands for.
  const displayName = typeof name === "string" ? name : id;
  return { id: alias, contextLength, maxOutputTokens, created, displayName };
}
