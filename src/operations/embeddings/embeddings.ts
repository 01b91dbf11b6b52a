import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { readErrorBody } from "../../model-api/failure/read-error-body.js";
import { requireJsonType } from "../../model-api/request/json-content-type.js";
import { readWhole, refuseWhole, type WholeReader } from "../../openai/read-whole.js";
import { sliceBytes } from "../../wire/slices.js";
import { toAnswerContext, toFailureContext } from "../answer-context.js";
import { countInput, promptDemand, requireInputsFit } from "../inputs/count-inputs.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
} from "../operation.js";
import { textPrices } from "../price-terms.js";
import { openAIProtocol } from "../protocols/openai-protocol.js";
import { requireAllowedMembers } from "../require-fit.js";
import { toEmbeddingAnswer } from "./embedding-answer.js";
import {
  type EmbeddingRequest,
  embeddingNames,
  parseEmbeddingRequest,
  parseEmbeddingRequestInTurns,
  toUpstreamEmbeddingBody,
} from "./embedding-request.js";
import { embeddingsLayout } from "./embeddings-layout.js";

/** `POST /v1/embeddings`. Vectors are no tokens: only the inputs count. */
export const embeddings: Operation<"embeddings"> = {
  name: "embeddings",
  paths: ["/v1/embeddings"],
  modelTypes: ["embedding"],
  priced: { required: [["input"]], known: textPrices.known },
  protocol: openAIProtocol,
  names: embeddingNames,
  table: undefined,
  prompt: embeddingsLayout,
  answers: undefined,
  checkContentType: requireJsonType,
  parse: (body, { maxBodyDepth }) =>
    body.length > sliceBytes
      ? parseEmbeddingRequestInTurns(body, maxBodyDepth).then(toModelRequest)
      : toModelRequest(parseEmbeddingRequest(body, maxBodyDepth)),
};

const toModelRequest = (request: EmbeddingRequest): ModelRequest => new EmbeddingModelRequest(request);

class EmbeddingModelRequest implements ModelRequest {
  readonly #request: EmbeddingRequest;
  /** Vectors do not come in a stream. */
  readonly stream = false;

  constructor(request: EmbeddingRequest) {
    this.#request = request;
  }

  get model(): string {
    return this.#request.model;
  }

  demand(model: ModelTraits): Demand {
    const request = this.#request;
    requireAllowedMembers(request, model);
    requireInputsFit(request, request.inputs, "input", model);
    const tokens = request.inputs.map((input) => countInput(request.body, input, model));
    return { ...promptDemand(tokens, model), outputTokens: 0, addedCap: undefined };
  }

  asksToReason(): boolean {
    return false;
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has("embeddings")) return undefined;
    const dialect = target.rules.dialectFor(this.#request, target.dialect);
    const body = toUpstreamEmbeddingBody(this.#request, { model: target.upstreamModel, dialect });
    return new EmbeddingExchange(this.#request, body, toAnswerContext(target, model, attempt, "input"));
  }
}

class EmbeddingExchange implements Exchange, WholeReader {
  readonly operation = "embeddings";
  /** A vector may be one. */
  readonly readsLongTexts = true;
  readonly body: Uint8Array;
  readonly #request: EmbeddingRequest;
  readonly #context: AnswerContext;

  constructor(request: EmbeddingRequest, body: Uint8Array, context: AnswerContext) {
    this.#request = request;
    this.body = body;
    this.#context = context;
  }

  readWhole(bytes: Uint8Array) {
    return readWhole(bytes, this);
  }

  read(received: ReceivedAnswer) {
    return toEmbeddingAnswer(received, this.#request, this.#context);
  }

  refuse(received: ReceivedAnswer) {
    return refuseWhole(received, this.#context);
  }

  partialTokens() {
    return { input: this.#context.promptTokens, cachedInput: 0, output: 0, reasoning: 0 };
  }

  readStream(): never {
    throw new TypeError("Embeddings are not streamed.");
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, toFailureContext(this.#context, this.body));
  }
}
