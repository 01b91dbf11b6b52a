import { isRecord } from "../wire/is-record.js";
import type { AISDKRerankingModel } from "./ai-sdk-model.js";
import type { CheckedAISDKOptions } from "./ai-sdk-options.js";

/** Ranks the documents of a request, which are texts: the body of a response of Cohere's. */
export async function rank(
  { query, documents, top_n: topN }: Record<string, unknown>,
  model: AISDKRerankingModel,
  { headers, providerOptions }: CheckedAISDKOptions,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const values = Array.isArray(documents) ? documents : [];
  const callOptions = {
    documents: { type: "text", values },
    query,
    topN: typeof topN === "number" ? topN : values.length,
    abortSignal: signal,
    headers,
    providerOptions,
  };
  const result = await model.doRerank(callOptions as never);
  if (!isRecord(result) || !Array.isArray(result["ranking"])) throw new TypeError("The model's result has no ranking.");
  return { results: result["ranking"].map(toResult), ...countsOf(result["response"]) };
}

/** In the server's own response are searches and tokens, which the AI SDK has no word for. */
function countsOf(response: unknown): Record<string, unknown> {
  const { meta, usage } = isRecord(response) && isRecord(response["body"]) ? response["body"] : {};
  const { billed_units: billed, tokens } = isRecord(meta) ? meta : {};
  return {
    meta: { billed_units: membersOf(billed, ["search_units"]), tokens: membersOf(tokens, ["input_tokens"]) },
    usage: membersOf(usage, ["prompt_tokens", "input_tokens", "total_tokens"]),
  };
}

/** These alone: what else the server says, such as its costs, is no business of clients. */
function membersOf(value: unknown, names: readonly string[]): Record<string, unknown> | undefined {
  return isRecord(value) ? Object.fromEntries(names.map((name) => [name, value[name]])) : undefined;
}

function toResult(ranked: unknown): Record<string, unknown> {
  const { index, relevanceScore } = isRecord(ranked) ? ranked : {};
  return { index, relevance_score: relevanceScore };
}
