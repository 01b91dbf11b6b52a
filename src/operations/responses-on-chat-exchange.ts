import { Buffer } from "node:buffer";
import type { GatewayError } from "../errors/gateway-error.js";
import { StreamFault } from "../errors/stream-fault.js";
import type { ModelAnswer } from "../metering/model-answer.js";
import type { AnswerContext } from "../openai/answer-context.js";
import { answerToChunk } from "../openai/chat/answer-to-chunk.js";
import { toChatAnswer } from "../openai/chat/chat-answer.js";
import { ChatChunkReader } from "../openai/chat/chat-chunk-reader.js";
import { ChatProgress } from "../openai/chat/chat-progress.js";
import { parseChatRequest } from "../openai/chat/chat-request.js";
import { toUpstreamBody } from "../openai/chat/encode-chat-request.js";
import { estimateTokens } from "../openai/media/token-estimate.js";
import { readErrorBody } from "../openai/read-error-body.js";
import { readWhole } from "../openai/read-whole.js";
import { ReceivedAnswer } from "../openai/received-answer.js";
import { frameEvents, keepAliveComment } from "../openai/responses/response-events.js";
import { toResponse } from "../translate/chat-to-response.js";
import { ChatToResponsesStream } from "../translate/chat-to-responses-stream.js";
import { type ResponseContext, toResponseContext } from "../translate/responses/response-context.js";
import { toChatRequest } from "../translate/responses-to-chat-request.js";
import { withoutByteOrderMark } from "../wire/byte-order-mark.js";
import type { ServerSentEvent } from "../wire/event-reader.js";
import { isRecord } from "../wire/is-record.js";
import { toAnswerContext } from "./answer-context.js";
import type { KeptConversation } from "./kept-conversation.js";
import type { Exchange } from "./operation.js";
import { type ResponsesExchangeParts, responseIdOf } from "./responses-exchange-parts.js";
import type { StreamCodec } from "./stream-codec.js";

/** Deeper than any request that the gateway itself writes. */
const mostDepth = 1000;

/** A request for a response, and the chat completion of a server that does not speak that API. */
export class ResponsesOnChatExchange implements Exchange {
  readonly operation = "chat/completions";
  readonly body: Uint8Array;
  readonly #answer: AnswerContext;
  readonly #response: ResponseContext;
  readonly #conversation: KeptConversation;
  /** The response as the client got it. */
  #complete: () => Readonly<Record<string, unknown>> | undefined = () => undefined;

  constructor({ request, conversation, target, model, attempt }: ResponsesExchangeParts) {
    const { upstreamModel } = target;
    const source = `${model.id} ${upstreamModel}`;
    const translated = toChatRequest(request, { source });
    const chat = parseChatRequest(Buffer.from(JSON.stringify(translated.body)), mostDepth);
    const dialect = target.rules.dialectFor(chat, target.dialect);
    const { maxOutputTokens, lacking } = model;
    this.body = toUpstreamBody(chat, { model: upstreamModel, maxOutputTokens, dialect, lacking });
    this.#answer = toAnswerContext(target, model, attempt, "input");
    this.#conversation = conversation;
    this.#response = toResponseContext(request, {
      responseId: responseIdOf(attempt),
      model: model.id,
      createdAt: Math.floor(attempt.admittedAt / 1000),
      previousResponseId: conversation.previousResponseId,
      isStored: conversation.isStored,
      names: translated.names,
      source,
    });
  }

  readWhole(bytes: Uint8Array): ModelAnswer {
    const answer = readWhole(bytes, this.#answer, (received) => toChatAnswer(received, this.#answer));
    const completion = JSON.parse(Buffer.from(answer.body).toString()) as Record<string, unknown>;
    const response = toResponse(completion, this.#response, endOf(answer.tokens));
    this.#complete = () => response;
    return { ...answer, body: JSON.stringify(response) };
  }

  partialTokens(receivedBytes: number) {
    const { promptTokens } = this.#answer;
    return { input: promptTokens, cachedInput: 0, output: estimateTokens(receivedBytes), reasoning: 0 };
  }

  readStream(): StreamCodec {
    const codec = new ResponsesOnChatCodec(this.#answer, this.#response);
    this.#complete = () => codec.response;
    return codec;
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError {
    return readErrorBody(status, headers, body, { ...this.#answer, request: this.body });
  }

  async keep(): Promise<void> {
    const complete = this.#complete();
    const { responseId, createdAt } = this.#response;
    if (complete !== undefined) await this.#conversation.keep(responseId, JSON.stringify(complete), createdAt * 1000);
  }
}

function endOf(tokens: ModelAnswer["tokens"]) {
  return { tokens, completedAt: Math.floor(Date.now() / 1000) };
}

/** From an upstream's chat completion stream to the events of a response. */
class ResponsesOnChatCodec implements StreamCodec {
  readonly progress: ChatProgress;
  readonly #reader: ChatChunkReader;
  readonly #stream: ChatToResponsesStream;
  #hasBegun = false;

  constructor(answer: AnswerContext, response: ResponseContext) {
    this.progress = new ChatProgress(answer.promptTokens);
    this.#reader = new ChatChunkReader(answer, this.progress);
    this.#stream = new ChatToResponsesStream(response);
  }

  get response(): Readonly<Record<string, unknown>> | undefined {
    return this.#stream.response;
  }

  event(event: ServerSentEvent): Uint8Array | undefined {
    const chunk = this.#reader.read(event);
    if (chunk === undefined) return undefined;
    const events = [...this.#begin(), ...this.#stream.chunk(chunk.json)];
    return events.length === 0 ? undefined : frameEvents(events);
  }

  whole(body: Uint8Array): Uint8Array | undefined {
    const { json } = new ReceivedAnswer(withoutByteOrderMark(body));
    if (!isRecord(json)) throw new StreamFault("garbage");
    return this.event({ data: JSON.stringify(answerToChunk(json)), event: undefined });
  }

  end(): Uint8Array {
    if (!this.progress.isComplete) throw new StreamFault("incomplete");
    return frameEvents(this.#stream.end(endOf(this.progress.tokens)));
  }

  fault(error: GatewayError): Uint8Array {
    return frameEvents(this.#stream.fault(error));
  }

  keepAlive(): Uint8Array {
    return this.#hasBegun ? frameEvents(this.#stream.keepAlive()) : keepAliveComment;
  }

  #begin() {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return this.#stream.begin();
  }
}
