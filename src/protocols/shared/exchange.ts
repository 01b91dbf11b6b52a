import type { GatewayError } from "../../errors/gateway-error.js";
import { notAResponse } from "../../errors/upstream-fault.js";
import type { OperationName } from "../../prices/operation-name.js";
import type { ModelResponse } from "../../prices/progress.js";
import type { TokenCounts, UsageCounts } from "../../prices/usage-counts.js";
import type { UpstreamSecrets } from "../../redaction/upstream-secrets.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";
import { type Edited, piecesOfText, wholeText } from "../../wire/edited-bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { type Steps, sliceBytes, stepInTurns } from "../../wire/slices.js";
import type { Dialect } from "./dialect.js";
import type { AttemptFacts, Exchange, ModelTraits, TargetTraits } from "./operation.js";
import { isLeftOut, ReceivedResponse } from "./received-response.js";
import { type EstimateBounds, partialTokens } from "./token-estimate.js";
import { fromErrorObject, toClientError, type UpstreamFailureContext } from "./upstream-failure.js";
import { readUsage } from "./usage-object.js";

/** What the exchanges share whose upstream speaks the client's protocol: the request is the client's own, edited. */
export abstract class SameProtocolExchange<Context extends EstimateBounds> implements WholeReader {
  readonly #sent: Edited | Uint8Array;
  protected readonly context: Context;

  /** @param sent - what the upstream is sent. */
  constructor(sent: Edited | Uint8Array, context: Context) {
    this.#sent = sent;
    this.context = context;
  }

  abstract read(received: ReceivedResponse): ModelResponse | undefined;
  abstract refuse(received: ReceivedResponse): never;

  get body(): Uint8Array {
    return wholeText(this.#sent);
  }

  get pieces(): readonly Uint8Array[] | undefined {
    return piecesOfText(this.#sent);
  }

  readWhole(bytes: Uint8Array): ModelResponse | Promise<ModelResponse> {
    return readWhole(bytes, this);
  }

  partialTokens(pieces: readonly Uint8Array[]): UsageCounts {
    return partialTokens(this.context, pieces);
  }
}

/** The same where the protocol is OpenAI's. */
export abstract class OpenAIExchange extends SameProtocolExchange<AttemptContext> {
  refuse(received: ReceivedResponse): never {
    return refuseWhole(received, this.context);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError {
    return readErrorBody(status, headers, body, toFailureContext(this.context, this.body));
  }
}

/** An exchange whose response is one document without texts of a model, and comes in no stream. */
export abstract class DocumentExchange extends OpenAIExchange implements Exchange {
  abstract readonly operation: OperationName;
  /** What looks like a long text may be a vector, or a client's own document. */
  readonly readsLongTexts = true;

  override partialTokens(): TokenCounts {
    return { input: this.context.promptTokens, cachedInput: 0, output: 0, reasoning: 0 };
  }

  readStream(): never {
    throw new TypeError(`A response of ${this.operation} is not streamed.`);
  }
}

/** Reads the whole responses to one request, and makes the client's of them. */
export interface WholeReader {
  /** All long texts matter to it. */
  readonly readsLongTexts?: boolean;
  /** Nothing is estimated by its texts. */
  readonly needsNoTexts?: boolean;
  /** @returns `undefined` when it is no response to the request. */
  read(received: ReceivedResponse): ModelResponse | undefined;
  /** @throws GatewayError for an error inside a 200, and for bytes that are no response. */
  refuse(received: ReceivedResponse): never;
}

/**
 * Reads a whole response. Of a long one, long texts are not parsed where nothing is made of them; a very long one is read
 * in slices, between which others have their turn.
 * @throws GatewayError
 */
export function readWhole(bytes: Uint8Array, reader: WholeReader): ModelResponse | Promise<ModelResponse> {
  const received = new ReceivedResponse(withoutByteOrderMark(bytes));
  if (bytes.length > sliceBytes) return stepInTurns(longSteps(received, reader));
  return readOutline(received, reader) ?? reader.read(received) ?? reader.refuse(received);
}

function* longSteps(received: ReceivedResponse, reader: WholeReader): Steps<ModelResponse> {
  yield* received.check();
  const found = readOutline(received, reader);
  if (found !== undefined) return found;
  yield* received.parse(true);
  return reader.read(received) ?? reader.refuse(received);
}

/** @returns `undefined` where the outline does not do: to estimate tokens by the texts, for instance. */
function readOutline(received: ReceivedResponse, reader: WholeReader): ModelResponse | undefined {
  const outline = reader.readsLongTexts ? undefined : received.outline();
  if (outline === undefined) return undefined;
  const answer = reader.read(outline);
  if (answer === undefined || (answer.estimated && !reader.needsNoTexts) || outline.isTooLittle) return undefined;
  return isLeftOut(answer.responseId) || isLeftOut(answer.finishReason) ? undefined : answer;
}

/** @throws GatewayError as {@link WholeReader.refuse}, for OpenAI's protocols. */
export function refuseWhole({ json }: ReceivedResponse, context: UpstreamFailureContext): never {
  const usage = isRecord(json) ? json["usage"] : undefined;
  const error = errorIn(json);
  if (error !== undefined) throw fromErrorObject(error, context, usage);
  throw notAResponse(readUsage(usage));
}

/** The error in a body that has a status of 200. OpenRouter puts it into a choice. */
function errorIn(body: unknown): unknown {
  if (!isRecord(body)) return undefined;
  if (body["error"] !== undefined && body["error"] !== null) return body["error"];
  const choices: unknown[] = Array.isArray(body["choices"]) ? body["choices"] : [];
  return choices.map((choice) => (isRecord(choice) ? choice["error"] : undefined)).find(isRecord);
}

/** The client's error for an upstream's error response. @param body - its first bytes, which may not be JSON. */
export function readErrorBody(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  context: UpstreamFailureContext,
): GatewayError {
  return toClientError(status, headers, new ReceivedResponse(withoutByteOrderMark(body)).json, context);
}

/** What is known of an attempt when its response arrives. */
export interface AttemptContext {
  readonly requestId: string;
  /** Unique: what the ids of responses are made of. */
  readonly callId: string;
  /** The model as the client named it. */
  readonly model: string;
  /** The upstream's name for it. */
  readonly upstreamModel: string;
  /** The tokens of the prompt where the upstream reports no usage. */
  readonly promptTokens: number;
  /** The most output tokens that the request and the model allow. */
  readonly outputCap: number;
  /** The request's member that holds the prompt: `messages` of a chat completion, `input` of embeddings. */
  readonly promptParam: string;
  /** When the request was admitted, in epoch milliseconds: for responses without a date of their own. */
  readonly admittedAt: number;
  /** When the attempt began, in epoch milliseconds: to read a `Retry-After` date. */
  readonly startedAt: number;
  /** The dialect of the target's server. */
  readonly dialect: Dialect | undefined;
  /** Texts that must not appear in error messages for clients; read when there is an error. */
  readonly secrets: (() => UpstreamSecrets) | undefined;
}

/** What is unique in the id of a call: the same for all attempts of a request. */
export function bareCallId({ callId }: Pick<AttemptContext, "callId">): string {
  return callId.slice(callId.indexOf("_") + 1);
}

/** The id of a response that the gateway makes or keeps. */
export function ownId(prefix: "msg" | "resp", call: Pick<AttemptContext, "callId">): string {
  return `${prefix}_${bareCallId(call).replaceAll("-", "")}`;
}

/** What OpenAI's protocol reads a response with. @param promptParam - the request's member that holds the prompt. */
export function toAttemptContext(
  target: TargetTraits,
  model: ModelTraits,
  attempt: AttemptFacts,
  promptParam: string,
): AttemptContext {
  return new ContextView(target, calledName(model), attempt, promptParam);
}

/** The same with more, for responses that are read with more than most. What `more` has counts. */
export function contextWith<More extends object>(answer: AttemptContext, more: More): AttemptContext & More {
  const { requestId, callId, model, upstreamModel, promptTokens, outputCap, promptParam } = answer;
  const { admittedAt, startedAt, dialect, secrets } = answer;
  return {
    ...{ requestId, callId, model, upstreamModel, promptTokens, outputCap, promptParam },
    ...{ admittedAt, startedAt, dialect, secrets, ...more },
  };
}

/** What an error response is read with. @param request - what the upstream was sent. */
export function toFailureContext(
  { model, upstreamModel, promptParam, startedAt, dialect, secrets }: AttemptContext,
  request: Uint8Array,
): UpstreamFailureContext {
  return { model, upstreamModel, promptParam, startedAt, dialect, secrets, request };
}

/** It copies nothing: most of it is read of few responses. */
class ContextView implements AttemptContext {
  readonly model: string;
  readonly promptParam: string;
  readonly #target: TargetTraits;
  readonly #attempt: AttemptFacts;

  constructor(target: TargetTraits, model: string, attempt: AttemptFacts, promptParam: string) {
    this.model = model;
    this.promptParam = promptParam;
    this.#target = target;
    this.#attempt = attempt;
  }

  get requestId(): string {
    return this.#attempt.requestId;
  }

  get callId(): string {
    return this.#attempt.callId;
  }

  get promptTokens(): number {
    return this.#attempt.promptTokens;
  }

  get outputCap(): number {
    return this.#attempt.outputCap;
  }

  get admittedAt(): number {
    return this.#attempt.admittedAt;
  }

  get startedAt(): number {
    return this.#attempt.startedAt;
  }

  get upstreamModel(): string {
    return this.#target.upstreamModel;
  }

  get dialect(): Dialect | undefined {
    return this.#target.dialect;
  }

  get secrets(): (() => UpstreamSecrets) | undefined {
    return this.#target.secrets;
  }
}

/** What the client called a model, which its responses and refusals call it, too. */
export function calledName({ id, alias }: Pick<ModelTraits, "id" | "alias">): string {
  return alias ?? id;
}
