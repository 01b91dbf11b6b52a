import type { TokenCounts } from "../metering/token-counts.js";
import type { Lacking } from "../openai/chat/capabilities.js";
import type { AnswerContext } from "../openai/chat/chat-answer.js";
import type { PromptLimits } from "../openai/chat/prompt-tokens.js";
import type { Dialect } from "../openai/dialect.js";
import type { ModelAnswer, ReceivedAnswer } from "../openai/model-answer.js";
import type { JsonRequest } from "../openai/request/json-request.js";
import type { Tokenizer } from "../tokens/tokenizer.js";

/** What every request to a model has, whatever the endpoint. */
export interface ModelRequest extends JsonRequest {
  readonly model: string;
  readonly stream: boolean;
  /** The client asked for the usage chunk of a stream. */
  readonly includeUsage: boolean;
  /** The names of its members that few requests have, by what is left of them folded. */
  readonly strangers: ReadonlyMap<string, string>;
}

/** What the estimate of a request's output goes by. */
export interface OutputLimits {
  /** For a request that caps nothing. */
  defaultOutputTokens: number;
  /** The most that the model can do. */
  maxOutputTokens: number;
}

/** Where a request goes, and what it must not ask for there. */
export interface RequestTarget {
  /** The upstream's name for the model. */
  model: string;
  maxOutputTokens: number | undefined;
  /** The server's. */
  dialect: Dialect | undefined;
  lacking: Lacking | undefined;
}

/** What sets one endpoint that calls a model apart from another: all that is metered is the same for them. */
export interface ModelEndpoint<Request extends ModelRequest = ModelRequest> {
  /** The path behind `/v1/`, here and at the upstream. */
  readonly path: "chat/completions" | "embeddings";
  /** The models that it is for. */
  readonly modelType: "chat" | "embedding";
  /** The request's member that can be too long for a model. */
  readonly promptParam: string;
  /**
   * A large body is read in slices, between which others have their turn.
   * @throws GatewayError 400
   */
  parse(body: Uint8Array, maxDepth: number): Request | Promise<Request>;
  /**
   * Absent where a request cannot ask for anything that a model may lack.
   * @throws GatewayError 400 when it asks for what the model cannot do, and is not to be relieved of it.
   */
  refuseLacking?(request: Request, model: string, lacking: Lacking): void;
  /** Whether the request itself asks for reasoning. Absent where there is none. */
  asksToReason?(request: Request): boolean;
  /** The path of what certainly exceeds the model's context; `undefined`: nothing does. */
  findTooLong(request: Request, contextLength: number, tokenizer: Tokenizer | undefined): string | undefined;
  /** The most tokens that the prompt can have: what is held for it, and charged where an upstream reports no usage. */
  promptTokens(request: Request, limits: PromptLimits): number;
  /** The most output tokens that the request can cost. */
  outputTokens(request: Request, limits: OutputLimits): number;
  /** The request under the upstream's name for the model. */
  toUpstreamBody(request: Request, target: RequestTarget): Uint8Array;
  /**
   * What the client gets for a whole answer.
   * @returns `undefined` when it is no answer to the request.
   */
  toAnswer(answer: ReceivedAnswer, request: Request, context: AnswerContext): ModelAnswer | undefined;
  /** What was seen of a whole answer that its client did not wait for. */
  partialTokens(promptTokens: number, receivedBytes: number): TokenCounts;
}
