import { toEmbeddingAnswer } from "../openai/embeddings/embedding-answer.js";
import {
  type EmbeddingRequest,
  embeddingTokens,
  findTooLongInput,
  parseEmbeddingRequest,
  parseEmbeddingRequestInTurns,
  toUpstreamEmbeddingBody,
} from "../openai/embeddings/embedding-request.js";
import { sliceBytes } from "../wire/slices.js";
import type { ModelEndpoint } from "./model-endpoint.js";

/** `POST /v1/embeddings`. Vectors are no tokens: only the inputs count. */
export const embeddings: ModelEndpoint<EmbeddingRequest> = {
  path: "embeddings",
  modelType: "embedding",
  promptParam: "input",
  parse: (body, maxDepth) =>
    (body.length > sliceBytes ? parseEmbeddingRequestInTurns : parseEmbeddingRequest)(body, maxDepth),
  findTooLong: findTooLongInput,
  promptTokens: (request, { contextLength, tokenizer }) => embeddingTokens(request, contextLength, tokenizer),
  outputTokens: () => 0,
  toUpstreamBody: toUpstreamEmbeddingBody,
  toAnswer: toEmbeddingAnswer,
  partialTokens: (input) => ({ input, cachedInput: 0, output: 0, reasoning: 0 }),
};
