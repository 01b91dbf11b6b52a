import { Buffer } from "node:buffer";
import { notAResponse, StreamFault } from "../../errors/upstream-fault.js";
import type { ModelResponse } from "../../prices/progress.js";
import type { UpstreamSecrets } from "../../redaction/upstream-secrets.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { jsonSteps } from "../../wire/json-steps.js";
import { bySize, type Steps } from "../../wire/slices.js";
import { mostOutputTokens } from "../shared/demand.js";
import type { Dialect } from "../shared/dialect.js";
import { calledName, ownId, readErrorBody, SameProtocolExchange, toAttemptContext } from "../shared/exchange.js";
import type { AttemptFacts, Exchange, ExchangeFacts, ModelTraits, SealOfTarget } from "../shared/operation.js";
import { ReceivedResponse } from "../shared/received-response.js";
import type { StreamCodec } from "../shared/stream-codec.js";
import { fromErrorObject } from "../shared/upstream-failure.js";
import { toChatTarget } from "../translate/chat-target.js";
import { toMessagesTarget } from "../translate/messages-target.js";
import { toResponseContext } from "../translate/response-context.js";
import { ResponsesClientSink } from "../translate/responses-client-sink.js";
import { chatRequestOfResponsesSteps, type ToChatOptions } from "../translate/responses-to-chat-request.js";
import type { ToolNames } from "../translate/tool-names.js";
import { originOf, TranslatedExchange, translatedSteps } from "../translate/translated-exchange.js";
import { encodeResponsesRequest } from "./encode-responses-request.js";
import type { KeptConversation } from "./kept-conversation.js";
import {
  failureOf,
  isEndedResponse,
  type NativeResponseContext,
  repairItems,
  toNativeResponse,
} from "./native-response.js";
import { NativeResponseStream } from "./native-response-stream.js";
import { responseToEvents } from "./response-to-events.js";
import { hostedToolsToDrop, missingMembers, withoutMissingVision } from "./responses-capabilities.js";
import type { ResponsesRequest } from "./responses-request.js";
import { responsesTable } from "./responses-table.js";

/** A request for a response, and the response of a server that speaks the same API. */
export class NativeResponsesExchange extends SameProtocolExchange<NativeResponseContext> implements Exchange {
  readonly operation = "responses";
  readonly #conversation: KeptConversation;
  /** Where the response is, as the client got it. */
  #answer: ModelResponse | undefined;
  #codec: NativeResponsesCodec | undefined;
  readonly keep: Exchange["keep"];

  constructor(parts: ResponsesExchangeParts) {
    const { request: asked, conversation, target, model, attempt } = parts;
    const request = model.missing === undefined ? asked : withoutMissingVision(asked, model.missing);
    const dialect = target.rules.dialectFor(request, target.dialect, responsesTable);
    const body = encodeResponsesRequest(request, {
      model: target.upstreamModel,
      maxOutputTokens: mostOutputTokens(model),
      addedCap: attempt.addedCap,
      dropped: droppedMembers(model, dialect),
      withoutTools: hostedToolsToDrop(request, (type) => target.rules.passes(responsesTable, "tool", type)),
    });
    super(body, new NativeContext(parts));
    this.#conversation = conversation;
    if (conversation.isStored) this.keep = (instead) => this.#keep(instead);
  }

  read(received: ReceivedResponse): ModelResponse | undefined {
    this.#answer = toNativeResponse(received, this.context);
    return this.#answer;
  }

  refuse({ json }: ReceivedResponse): never {
    const failure = failureOf(json);
    if (failure !== undefined) throw fromErrorObject(failure, this.context);
    throw notAResponse();
  }

  readStream(): StreamCodec {
    this.#codec = new NativeResponsesCodec(this.context);
    return this.#codec;
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, { ...this.context, request: this.body });
  }

  async #keep(instead?: string): Promise<void> {
    const complete = this.#answer?.body ?? this.#codec?.response;
    const { responseId, createdAt } = this.context;
    if (complete !== undefined) await this.#conversation.keep(responseId, instead ?? complete, createdAt * 1000);
  }
}

class NativeResponsesCodec extends NativeResponseStream implements StreamCodec {
  whole(body: Uint8Array): Uint8Array | undefined {
    const { json } = new ReceivedResponse(withoutByteOrderMark(body));
    if (!isRecord(json) || (failureOf(json) === undefined && !isEndedResponse(json))) throw new StreamFault("garbage");
    repairItems(json["output"]);
    const sent = responseToEvents(json).flatMap((event) => this.event(event) ?? []);
    return sent.length === 0 ? undefined : Buffer.concat(sent);
  }
}

/** What a response of a server of the same API is read with. The prompt is counted where the server reports no usage. */
class NativeContext implements NativeResponseContext {
  readonly model: string;
  readonly upstreamModel: string;
  readonly outputCap: number;
  readonly promptParam = "input";
  readonly startedAt: number;
  readonly dialect: Dialect | undefined;
  readonly secrets: (() => UpstreamSecrets) | undefined;
  readonly responseId: string;
  readonly createdAt: number;
  readonly previousResponseId: string | undefined;
  readonly isStored: boolean;
  readonly #attempt: AttemptFacts;

  constructor({ conversation, target, model, attempt }: Omit<ResponsesExchangeParts, "sealOf" | "request">) {
    this.model = calledName(model);
    this.upstreamModel = target.upstreamModel;
    this.outputCap = attempt.outputCap;
    this.startedAt = attempt.startedAt;
    this.dialect = target.dialect;
    this.secrets = target.secrets;
    // Ids of an upstream are shared by all accounts behind one of its keys.
    this.responseId = ownId("resp", attempt);
    this.createdAt = Math.floor(attempt.admittedAt / 1000);
    this.previousResponseId = conversation.previousResponseId;
    this.isStored = conversation.isStored;
    this.#attempt = attempt;
  }

  get promptTokens(): number {
    return this.#attempt.promptTokens;
  }
}

/** What an exchange of the Responses API is made of. */
interface ResponsesExchangeParts extends ExchangeFacts {
  /** With all that it refers to in its place. */
  readonly request: ResponsesRequest;
  readonly conversation: KeptConversation;
  readonly sealOf: SealOfTarget;
}

/** What of the request a model's server must not be sent. */
function droppedMembers({ missing }: ModelTraits, dialect: Dialect | undefined): readonly string[] | undefined {
  const refused = dialect?.dropped;
  if (missing?.action !== "drop") return refused;
  return [...(refused ?? []), ...missingMembers(missing)];
}

/** A request for a response, and what a server that does not speak that API gives for it. */
export function translatedResponses(parts: ResponsesExchangeParts): TranslatedExchange | Promise<TranslatedExchange> {
  return bySize(parts.request.body.length, exchangeSteps(parts));
}

function* exchangeSteps(parts: ResponsesExchangeParts): Steps<TranslatedExchange> {
  const { request, conversation, sealOf, target, model, attempt } = parts;
  const thoughts = sealOf(originOf(target, model));
  const { bytes, names } = yield* chatOf(request, { thoughts, reasoning: model.reasons });
  const context = toResponseContext(request, {
    responseId: ownId("resp", attempt),
    model: calledName(model),
    createdAt: Math.floor(attempt.admittedAt / 1000),
    previousResponseId: conversation.previousResponseId,
    isStored: conversation.isStored,
    names,
    thoughts,
  });
  const answer = toAttemptContext(target, model, attempt, "input");
  const chat = yield* translatedSteps(bytes);
  const toTarget = target.operations.has("chat/completions") ? toChatTarget : toMessagesTarget;
  const sink = new ResponsesClientSink(context, conversation, attempt.clock);
  return new TranslatedExchange(yield* toTarget(chat, parts, answer), sink, attempt);
}

/** By itself, so that the values of the request are not held while its bytes are read. */
function* chatOf(request: ResponsesRequest, options: ToChatOptions): Steps<{ bytes: Uint8Array; names: ToolNames }> {
  const { body, names } = yield* chatRequestOfResponsesSteps(request, options);
  return { bytes: yield* jsonSteps(body, request.body.length), names };
}
