import { missingKey } from "../../errors/gateway-error.js";
import { RepeatedError } from "../../errors/repeated-error.js";
import type { ClientProtocol, ShownModel } from "../shared/client-protocol.js";
import { anthropicError, anthropicErrorHeaders, withRequestId } from "./anthropic-error.js";

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

const token = /^[A-Za-z0-9._~+/=-]+$/;
const bearer = /^bearer +(.*)$/i;

const missing = (message: string) => RepeatedError.of(missingKey(message));
const noKey = missing(
  "You did not provide an API key. Send it as a header: x-api-key: YOUR_KEY, or Authorization: Bearer YOUR_KEY.",
);
const twoKeys = missing("The headers 'x-api-key' and 'Authorization' hold different keys. Send one of them.");
const malformed = missing("The Authorization header is malformed. Send it once, as: Authorization: Bearer YOUR_KEY.");
const malformedKey = missing("The x-api-key header is malformed. Send it once, as: x-api-key: YOUR_KEY.");

/**
 * The key of Anthropic's clients, which send it in `x-api-key`, or in `authorization`, or in both.
 * @throws GatewayError 401 when there is none, or it is malformed, or there are two different ones.
 */
export function anthropicKey(header: (name: string) => string | undefined): string {
  const key = header("x-api-key")?.trim() ?? "";
  const authorization = header("authorization")?.trim() ?? "";
  if (key === "" && authorization === "") throw noKey;
  const borne = bearer.exec(authorization)?.[1];
  if (key !== "" && authorization !== "" && borne !== key) throw twoKeys;
  const found = key === "" ? borne : key;
  // Two headers arrive joined by a comma, and are refused for it.
  if (found !== undefined && token.test(found)) return found;
  throw key === "" ? malformed : malformedKey;
}

/** What of a model its record shows. */
interface ListedModel {
  readonly id: string;
  readonly contextLength: number;
  readonly maxOutputTokens?: number | undefined;
  /** What it is called; absent: its id. */
  readonly displayName?: string | undefined;
  /** Epoch seconds. */
  readonly created: number;
}

/** A model as Anthropic describes one (Anthropic reference, "Get a Model"). */
export function anthropicModel(model: ListedModel): string {
  return JSON.stringify({
    type: "model",
    id: model.id,
    display_name: model.displayName ?? model.id,
    created_at: new Date(model.created * 1000).toISOString().replace(".000Z", "Z"),
    max_input_tokens: model.contextLength,
    max_tokens: model.maxOutputTokens ?? null,
  });
}

/** The list, all on one page (Anthropic reference, "List Models"): it is short. */
export function anthropicModelList(models: readonly ListedModel[]): string {
  const ids = JSON.stringify({ has_more: false, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null });
  return `{"data":[${models.map(anthropicModel).join(",")}],${ids.slice(1)}`;
}
