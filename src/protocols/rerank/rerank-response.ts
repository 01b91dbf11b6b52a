import type { ModelResponse } from "../../prices/progress.js";
import { readTokenCount, type UsageCounts } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";
import { type AttemptContext, bareCallId } from "../shared/exchange.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import { readPromptUsage, visibleUsage } from "../shared/usage-object.js";
import { findReport } from "../shared/usage-report.js";
import { sentDocument } from "./rerank-body.js";
import type { RerankRequest } from "./rerank-request.js";

type Result = Record<string, unknown> & { index: number; relevance_score: number };

/** What a target was asked for, and what it is paid by. */
export interface AskedRanking {
  readonly request: RerankRequest;
  /** The searches that the request counts as; `undefined`: the target's price is not for them. */
  readonly searches: number | undefined;
  /** Whether the target's price is for tokens. */
  readonly pricesTokens: boolean;
}

/**
 * Turns an upstream's ranking, in any server's words, into the client's: sorted, as long as it was asked for, with what the
 * SDKs of Cohere and others need. Members that nobody knows stay.
 *
 * @returns `undefined` when it does not rank the documents, each at most once.
 */
export function toRerankResponse(
  { json }: ReceivedResponse,
  { request, searches, pricesTokens }: AskedRanking,
  context: AttemptContext,
): ModelResponse | undefined {
  const answer: Readonly<Record<string, unknown>> = Array.isArray(json)
    ? { results: json }
    : isRecord(json)
      ? json
      : {};
  const {
    id: _id,
    model: _model,
    results: found,
    data,
    meta: givenMeta,
    usage: reported,
    error: _error,
    ...others
  } = answer;
  const list = Array.isArray(found) ? found : data;
  const results = readResults(list, request);
  if (results === undefined) return undefined;

  const responseId =
    typeof answer["id"] === "string" && answer["id"] !== "" ? answer["id"] : `rerank-${bareCallId(context)}`;
  const meta = isRecord(givenMeta) ? givenMeta : {};
  const billed = isRecord(meta["billed_units"]) ? meta["billed_units"] : {};
  // No ranking takes no search: a server that counts none has counted nothing.
  const units = readTokenCount(billed["search_units"]) || undefined;
  const ofUsage = readPromptUsage(reported);
  // Cohere says tokens in its `meta`.
  const counted = ofUsage ?? readPromptUsage(findReport({ meta }));
  const tokens: UsageCounts = counted ?? { input: context.promptTokens, cachedInput: 0, output: 0, reasoning: 0 };
  if (searches !== undefined) tokens.searches = units ?? searches;
  else if (units !== undefined) tokens.searches = units;
  const usage = visibleUsage(reported, context.dialect);
  const shown = {
    ...(isRecord(usage) ? usage : undefined),
    ...{ prompt_tokens: tokens.input, total_tokens: tokens.input },
  };
  const head = JSON.stringify({ id: responseId, model: context.model, ...others });
  const tail = JSON.stringify({
    meta: {
      api_version: { version: "2" },
      ...meta,
      ...(searches === undefined ? undefined : { billed_units: { ...billed, search_units: tokens.searches } }),
    },
    ...(searches === undefined || pricesTokens || usage !== undefined ? { usage: shown } : undefined),
  });
  const ranked = results.map((result) => withDocument(result, request)).join(",");
  const body = `${head.slice(0, -1)},"results":[${ranked}],${tail.slice(1)}`;
  const isCounted = counted !== undefined || (searches !== undefined && !pricesTokens);
  const estimated = !isCounted || (searches !== undefined && units === undefined);
  return { body, tokens, estimated, responseId, finishReason: undefined };
}

/** The results from the best to the worst, as many as the client wants. */
function readResults(list: unknown, { documents, topN }: RerankRequest): Result[] | undefined {
  if (!Array.isArray(list) || list.length < topN || list.length > documents.length) return undefined;
  const seen = new Set<number>();
  const results: Result[] = [];
  for (const item of list) {
    if (!isRecord(item)) return undefined;
    const { score, ...rest } = item;
    const { index, relevance_score: relevance = score } = rest;
    if (!Number.isInteger(index) || !Number.isFinite(relevance)) return undefined;
    const place = index as number;
    if (place < 0 || place >= documents.length || seen.has(place)) return undefined;
    seen.add(place);
    results.push({ ...rest, index: place, relevance_score: relevance as number });
  }
  return results.sort((one, other) => other.relevance_score - one.relevance_score).slice(0, topN);
}

/** What a client wants back is its own document, byte for byte, whatever the server gives. */
function withDocument({ document: given, ...result }: Result, request: RerankRequest): string {
  const own = request.returnDocuments ? request.documents[result.index] : undefined;
  if (own === undefined) return JSON.stringify(given === undefined ? result : { ...result, document: given });
  const text = sentDocument(request, own);
  return `${JSON.stringify(result).slice(0, -1)},"document":${text.startsWith("{") ? text : `{"text":${text}}`}}`;
}
