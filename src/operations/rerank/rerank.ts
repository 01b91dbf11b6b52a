import type { UsageCounts } from "../../metering/usage-counts.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { rerankTable } from "../../openai/tables/rerank-table.js";
import { toAnswerContext } from "../answer-context.js";
import { DocumentExchange } from "../document-exchange.js";
import { promptDemand, requireInputsFit } from "../inputs/count-inputs.js";
import { tooMany } from "../inputs/input-reader.js";
import { jsonBodies, jsonReader } from "../json-bodies.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
} from "../operation.js";
import { ParsedRequest } from "../parsed-request.js";
import { requireAllowedMembers } from "../require-fit.js";
import { type AskedRanking, toRerankAnswer } from "./rerank-answer.js";
import { rerankBody } from "./rerank-body.js";
import { countRerank, type RerankCounts } from "./rerank-counts.js";
import { rerankLayout } from "./rerank-layout.js";
import { rerankProtocol } from "./rerank-protocol.js";
import {
  parseRerankRequest,
  parseRerankRequestInTurns,
  type RerankRequest,
  rerankNames,
  usualDocuments,
} from "./rerank-request.js";

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
  ...jsonBodies(
    jsonReader(parseRerankRequest, parseRerankRequestInTurns),
    (request) => new RerankModelRequest(request),
  ),
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
    return { ...prompt, outputTokens: 0, addedCap: undefined, most: used, handedOver: used };
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
    const context = toAnswerContext(target, model, attempt, "query");
    const exchangeOf = (sent: Uint8Array) => new RerankExchange(sent, context, { request, searches, pricesTokens });
    return body instanceof Promise ? body.then(exchangeOf) : exchangeOf(body);
  }
}

class RerankExchange extends DocumentExchange {
  readonly operation = "rerank";
  readonly #asked: AskedRanking;

  constructor(body: Uint8Array, context: AnswerContext, asked: AskedRanking) {
    super(body, context);
    this.#asked = asked;
  }

  read(received: ReceivedAnswer) {
    return toRerankAnswer(received, this.#asked, this.context);
  }
}
