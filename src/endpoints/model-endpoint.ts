import type { AnswerContext, ModelAnswer } from "../openai/chat-answer.js";
import type { TokenCounts } from "../openai/usage.js";

/** What every request to a model has, whatever the endpoint. */
export interface ModelRequest {
  readonly model: string;
  readonly stream: boolean;
  /** The client asked for the usage chunk of a stream. */
  readonly includeUsage: boolean;
}

/** What the estimate of a request's output goes by. */
export interface OutputLimits {
  /** For a request that caps nothing. */
  defaultOutputTokens: number;
  /** The most that the model can do. */
  maxOutputTokens: number;
}

/** What sets one endpoint that calls a model apart from another: all that is metered is the same for them. */
export interface ModelEndpoint<Request extends ModelRequest = ModelRequest> {
  /** The path behind `/v1/`, here and at the upstream. */
  readonly path: "chat/completions" | "embeddings";
  /** The models that it is for. */
  readonly modelType: "chat" | "embedding";
  /** The request's member that can be too long for a model. */
  readonly promptParam: string;
  /** @throws GatewayError 400 */
  parse(body: Uint8Array, maxDepth: number): Request;
  /** An estimate of the prompt's tokens. */
  promptTokens(request: Request, contextLength: number): number;
  /** The most output tokens that the request can cost. */
  outputTokens(request: Request, limits: OutputLimits): number;
  /** The request under the upstream's name for the model. */
  toUpstreamBody(request: Request, target: { model: string; maxOutputTokens: number | undefined }): Uint8Array;
  /** What the client gets for a whole answer in which nothing is to be mended; `undefined` when it has to be parsed. */
  toPlainAnswer(answer: Uint8Array, context: AnswerContext): ModelAnswer | undefined;
  /** What it gets for any other, given its parsed JSON, too; `undefined` when it is no answer to the request. */
  toAnswer(answer: Uint8Array, json: unknown, request: Request, context: AnswerContext): ModelAnswer | undefined;
  /** What was seen of a whole answer that its client did not wait for. */
  partialTokens(promptTokens: number, receivedBytes: number): TokenCounts;
}
