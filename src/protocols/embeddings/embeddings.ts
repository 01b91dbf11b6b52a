import { requireAllowedMembers } from "../shared/demand.js";
import { type AttemptContext, DocumentExchange, toAttemptContext } from "../shared/exchange.js";
import { inputsDemand } from "../shared/inputs.js";
import { tokenTerms } from "../shared/model-type.js";
import { openAIProtocol } from "../shared/openai-protocol.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
} from "../shared/operation.js";
import { jsonBodies, ParsedRequest, upstreamBody } from "../shared/parsed-request.js";
import { inputLayout } from "../shared/prompt-layout.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import { type EmbeddingRequest, embeddingNames, parseEmbeddingRequest } from "./embedding-request.js";
import { toEmbeddingResponse } from "./embedding-response.js";

/** `POST /v1/embeddings`. Vectors are no tokens: only the inputs count. */
export const embeddings: Operation<"embeddings"> = {
  name: "embeddings",
  paths: ["/v1/embeddings"],
  modelTypes: ["embedding"],
  priced: { required: [["input"]], known: tokenTerms },
  protocol: openAIProtocol,
  names: embeddingNames,
  table: undefined,
  prompt: inputLayout,
  answers: undefined,
  ...jsonBodies(parseEmbeddingRequest, (request) => new EmbeddingModelRequest(request)),
};

class EmbeddingModelRequest extends ParsedRequest<EmbeddingRequest> implements ModelRequest {
  readonly asksForMuch = true;

  demand(model: ModelTraits): Demand {
    requireAllowedMembers(this.request, model);
    return inputsDemand(this.request, model);
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has("embeddings")) return undefined;
    const dialect = target.rules.dialectFor(this.request, target.dialect);
    const body = upstreamBody(this.request, { model: target.upstreamModel, dialect });
    return new EmbeddingExchange(this.request, body, toAttemptContext(target, model, attempt, "input"));
  }
}

class EmbeddingExchange extends DocumentExchange {
  readonly operation = "embeddings";
  readonly #request: EmbeddingRequest;

  constructor(request: EmbeddingRequest, body: Uint8Array, context: AttemptContext) {
    super(body, context);
    this.#request = request;
  }

  read(received: ReceivedResponse) {
    return toEmbeddingResponse(received, this.#request, this.context);
  }
}
