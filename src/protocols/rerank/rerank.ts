import type { UsageCounts } from "../../prices/usage-counts.js";
import type { ClientProtocol } from "../shared/client-protocol.js";
import { requireAllowedMembers } from "../shared/demand.js";
import { type AttemptContext, DocumentExchange, toAttemptContext } from "../shared/exchange.js";
import { countInput, promptDemand, requireInputsFit, tooMany } from "../shared/inputs.js";
import { openAIErrorBody, openAIProtocol } from "../shared/openai-protocol.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
} from "../shared/operation.js";
import { jsonBodies, ParsedRequest } from "../shared/parsed-request.js";
import { layoutOf, promptMembers } from "../shared/prompt-layout.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import { rerankBody } from "./rerank-body.js";
import {
  parseRerankRequest,
  type RerankRequest,
  rerankNames,
  rerankTable,
  usualChunkTokens,
  usualDocuments,
} from "./rerank-request.js";
import { type AskedRanking, toRerankResponse } from "./rerank-response.js";

/** `POST /v1/rerank` */
const rerankLayout = layoutOf([
  ...promptMembers(["query", "documents"], "prompt", "user"),
  ...promptMembers(["rank_fields", "truncate"], "none", "user"),
]);

/** Cohere's clients look for an error's `message` at the top; all others look into `error`. */
const rerankProtocol: ClientProtocol = {
  ...openAIProtocol,
  errorBody: (error) => `{"message":${JSON.stringify(error.message)},${openAIErrorBody(error).slice(1)}`,
};

/** `POST /v1/rerank` and `POST /v2/rerank`, which are the same: clients of Cohere's two versions call the one or the other. */
export const rerank: Operation<"rerank"> = {
  name: "rerank",
  paths: ["/v1/rerank", "/v2/rerank"],
  modelTypes: ["rerank"],
  priced: { required: [["searches"], ["input"], ["request"]], known: ["searches", "input", "request"] },
  protocol: rerankProtocol,
  names: rerankNames,
  table: rerankTable,
  prompt: rerankLayout,
  answers: undefined,
  ...jsonBodies(parseRerankRequest, (request) => new RerankModelRequest(request)),
};

class RerankModelRequest extends ParsedRequest<RerankRequest> implements ModelRequest {
  #counts: RerankCounts | undefined;

  demand(model: ModelTraits): Demand {
    const request = this.request;
    requireAllowedMembers(request, model, rerankTable);
    const most = model.rerank?.maxDocuments ?? usualDocuments;
    if (request.documents.length > most) throw tooMany("documents", most);
    requireInputsFit(request, [request.query], "query", model);
    this.#counts = countRerank(request, model);
    const { pairs, searches } = this.#counts;
    const prompt = promptDemand(pairs, model);
    const used: UsageCounts = { input: prompt.promptTokens, cachedInput: 0, output: 0, reasoning: 0, searches };
    return { ...prompt, outputTokens: 0, addedCap: undefined, most: used, chargedOnceSent: used };
  }

  exchangeWith(
    target: TargetTraits,
    model: ModelTraits,
    attempt: AttemptFacts,
  ): Exchange | Promise<Exchange> | undefined {
    const request = this.request;
    if (!target.operations.has("rerank")) return undefined;
    if (request.hasImages && target.dialect?.rerank !== "jina") return undefined;
    const dialect = target.rules.dialectFor(request, target.dialect, rerankTable);
    const body = rerankBody(request, { model: target.upstreamModel, dialect });
    const { pricesTokens, units } = target.price;
    const searches = units.includes("searches") ? this.#counts?.searches : undefined;
    const context = toAttemptContext(target, model, attempt, "query");
    const exchangeOf = (sent: Uint8Array) => new RerankExchange(sent, context, { request, searches, pricesTokens });
    return body instanceof Promise ? body.then(exchangeOf) : exchangeOf(body);
  }
}

class RerankExchange extends DocumentExchange {
  readonly operation = "rerank";
  readonly #asked: AskedRanking;

  constructor(body: Uint8Array, context: AttemptContext, asked: AskedRanking) {
    super(body, context);
    this.#asked = asked;
  }

  read(received: ReceivedResponse) {
    return toRerankResponse(received, this.#asked, this.context);
  }
}

/** What models put around a query and a document. */
const around = 16;

/** So many pieces are a search. */
const piecesOfSearch = 100;

/** What a request counts at the most. */
interface RerankCounts {
  /** The tokens of each document with the query, which a model reads once for each. */
  readonly pairs: readonly number[];
  readonly searches: number;
}

function countRerank({ body, query, documents }: RerankRequest, model: ModelTraits): RerankCounts {
  const ofQuery = countInput(body, query, model);
  const chunk = model.rerank?.chunkTokens ?? usualChunkTokens;
  const tokens = documents.map((document) => ofQuery + countInput(body, document, model));
  const pieces = tokens.reduce((sum, each) => sum + Math.ceil(each / chunk), 0);
  return { pairs: tokens.map((each) => each + around), searches: Math.ceil(pieces / piecesOfSearch) };
}
