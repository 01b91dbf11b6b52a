import type { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { Clock } from "../../ledger/calendar.js";
import type { TokenCounts } from "../../prices/usage-counts.js";
import { placeOf } from "../../wire/event-place.js";
import type { EventPlace } from "../../wire/event-template.js";
import { memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import { jsonSteps } from "../../wire/json-steps.js";
import { keepAliveComment } from "../../wire/plain-event.js";
import { type Outgoing, type Steps, stepInTurns } from "../../wire/slices.js";
import { responseToChunk } from "../chat/chat-response.js";
import type { KeptConversation } from "../responses/kept-conversation.js";
import { frameEvents, frameLate, RepeatedTexts, type ResponseEvent } from "../responses/response-events.js";
import type { ChatChunkSink, ChatCompletion, ChatJson, ChatSink, TextSink } from "./chat-source.js";
import { ChatToResponsesStream, type ResponseEnd } from "./chat-to-responses-stream.js";
import type { ResponseContext } from "./response-context.js";

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

/** The events of a response that bring text of its message alone. */
class ResponsesTexts implements TextSink {
  readonly #stream: ChatToResponsesStream;

  constructor(stream: ChatToResponsesStream) {
    this.#stream = stream;
  }

  get count(): number {
    return this.#stream.count;
  }

  textIn(sent: Buffer): readonly EventPlace[] | undefined {
    const members = membersOf(sent);
    const type = memberOf(members, "type");
    const delta = memberOf(members, "delta");
    const number = memberOf(members, "sequence_number");
    const logprobs = memberOf(members, "logprobs");
    if (type === undefined || delta === undefined || number === undefined || logprobs === undefined) return undefined;
    if (valueAt(sent, type) !== "response.output_text.delta" || sent[logprobs.start + 1] !== 0x5d) return undefined;
    return [placeOf("count", number), placeOf("text", delta)];
  }

  textWent(text: string): void {
    this.#stream.textWent(text);
  }
}

/**
 * A whole chat completion as a response: the same as its stream would end with.
 * @param completion - parsed and repaired; of its choices the first counts.
 * @throws GatewayError where its server has given up.
 */
export function toResponse(
  completion: Readonly<Record<string, unknown>>,
  context: ResponseContext,
  end: ResponseEnd,
): Readonly<Record<string, unknown>> {
  const stream = new ChatToResponsesStream(context);
  stream.chunk(responseToChunk(completion));
  stream.end(end);
  return stream.response ?? {};
}
