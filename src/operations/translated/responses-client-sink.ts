import type { GatewayError } from "../../errors/gateway-error.js";
import type { Clock } from "../../ledger/clock.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { RepeatedTexts } from "../../openai/responses/repeated-texts.js";
import { frameEvents, frameLate, type ResponseEvent } from "../../openai/responses/response-events.js";
import { toResponse } from "../../translate/chat-to-response.js";
import { ChatToResponsesStream } from "../../translate/chat-to-responses-stream.js";
import type { ResponseContext } from "../../translate/responses/response-context.js";
import { keepAliveComment } from "../../wire/event-frame.js";
import { jsonSteps } from "../../wire/sliced/json-steps.js";
import type { Outgoing } from "../../wire/sliced/late-bytes.js";
import { type Steps, stepInTurns } from "../../wire/slices.js";
import type { KeptConversation } from "../responses/kept-conversation.js";
import type { ChatChunkSink, ChatCompletion, ChatJson, ChatSink } from "./chat-source.js";
import { ResponsesTexts } from "./responses-texts.js";
import type { TextSink } from "./text-shortcut.js";

/** A client of the Responses API, for an upstream that does not speak it. */
export class ResponsesClientSink implements ChatSink {
  readonly #context: ResponseContext;
  readonly #conversation: KeptConversation;
  readonly #clock: Clock;
  readonly keep: ChatSink["keep"];
  /** The response as the client got it. */
  #complete: () => Uint8Array | ChatJson | undefined = () => undefined;

  constructor(context: ResponseContext, conversation: KeptConversation, clock: Clock) {
    this.#context = context;
    this.#conversation = conversation;
    this.#clock = clock;
    if (conversation.isStored) this.keep = (instead) => this.#keep(instead);
  }

  *whole({ json, tokens }: ChatCompletion, expectedBytes: number): Steps<Uint8Array> {
    const body = yield* jsonSteps(toResponse(json, this.#context, endOf(tokens, this.#clock)), expectedBytes);
    this.#complete = () => body;
    return body;
  }

  responseId(): string {
    return this.#context.responseId;
  }

  stream(): ChatChunkSink {
    const stream = new ChatToResponsesStream(this.#context);
    this.#complete = () => stream.response;
    return new ResponsesClientChunks(stream, this.#context.responseId, this.#clock);
  }

  async #keep(instead: string | undefined): Promise<void> {
    const complete = this.#complete();
    const { responseId, createdAt } = this.#context;
    if (complete === undefined) return;
    const json = instead ?? (complete instanceof Uint8Array ? complete : await stepInTurns(jsonSteps(complete)));
    await this.#conversation.keep(responseId, json, createdAt * 1000);
  }
}

function endOf(tokens: TokenCounts, clock: Clock) {
  return { tokens, completedAt: Math.floor(clock.now() / 1000) };
}

function hasChoices({ choices }: ChatJson): boolean {
  return Array.isArray(choices) && choices.length > 0;
}

class ResponsesClientChunks implements ChatChunkSink {
  readonly texts: TextSink;
  readonly responseId: string;
  readonly #stream: ChatToResponsesStream;
  readonly #clock: Clock;
  readonly #repeated = new RepeatedTexts();
  #hasBegun = false;

  constructor(stream: ChatToResponsesStream, responseId: string, clock: Clock) {
    this.responseId = responseId;
    this.#stream = stream;
    this.#clock = clock;
    this.texts = new ResponsesTexts(stream);
  }

  chunk(chunk: ChatJson): Outgoing | undefined {
    // Nothing has begun by a chunk that is no part of an answer: another target can still answer.
    if (!this.#hasBegun && !hasChoices(chunk)) return undefined;
    return this.#frame([...this.#begin(), ...this.#stream.chunk(chunk)]);
  }

  end(tokens: TokenCounts): Outgoing {
    return this.#frame([...this.#begin(), ...this.#stream.end(endOf(tokens, this.#clock))]);
  }

  fault(error: GatewayError): Uint8Array {
    return frameEvents(this.#stream.fault(error));
  }

  keepAlive(): Uint8Array {
    return this.#hasBegun ? frameEvents(this.#stream.keepAlive()) : keepAliveComment;
  }

  #frame(events: readonly ResponseEvent[]): Outgoing {
    return frameLate(events, this.#stream.size, this.#repeated);
  }

  #begin() {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return this.#stream.begin();
  }
}
