import { notAResponse, StreamFault } from "../../errors/upstream-fault.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import type { Steps } from "../../wire/slices.js";
import type { ChatRequest } from "../chat/chat-request.js";
import { createdAt, repairCompletion } from "../chat/chat-response.js";
import { toUpstreamBody } from "../chat/encode-chat-request.js";
import { fromAnthropicError, fromAnthropicErrorEvent } from "../messages/anthropic-error.js";
import { messageUsage } from "../messages/message-response.js";
import { messageToEvents } from "../messages/message-to-events.js";
import { mostOutputTokens, requiredOutputCap } from "../shared/demand.js";
import { type AttemptContext, toFailureContext } from "../shared/exchange.js";
import type { ExchangeFacts } from "../shared/operation.js";
import { ReceivedResponse } from "../shared/received-response.js";
import { toChatUsage } from "../shared/usage-object.js";
import {
  type ChatChunkSource,
  type ChatCompletion,
  type ChatJson,
  type ChatSource,
  MessagesTexts,
  type TextSource,
} from "./chat-source.js";
import { messagesRequestSteps } from "./chat-to-messages-request.js";
import { messageToChat } from "./message-to-chat.js";
import { MessagesToChatStream } from "./messages-to-chat-stream.js";
import { translatedSteps } from "./translated-exchange.js";

/** The source of a target that speaks Messages alone, for a request in the words of chat completions. */
export function* toMessagesTarget(
  chat: ChatRequest,
  { target, model: traits, attempt }: ExchangeFacts,
  context: AttemptContext,
): Steps<MessagesTargetSource> {
  const { upstreamModel: model } = target;
  const { missing } = traits;
  const maxOutputTokens = mostOutputTokens(traits);
  const isRelieved = missing?.action === "drop";
  const request = isRelieved ? yield* translatedSteps(toUpstreamBody(chat, { model, maxOutputTokens, missing })) : chat;
  const requiredCap = requiredOutputCap(traits, attempt.addedCap);
  const thinking = traits.reasons ? undefined : "none";
  const body = yield* messagesRequestSteps(request, { model, maxOutputTokens, requiredCap, thinking });
  return new MessagesTargetSource(body, context);
}

/** An upstream that speaks Anthropic's Messages, for a client that does not. */
export class MessagesTargetSource implements ChatSource {
  readonly operation = "messages";
  readonly body: Uint8Array;
  readonly #context: AttemptContext;

  constructor(body: Uint8Array, context: AttemptContext) {
    this.body = body;
    this.#context = context;
  }

  *readWhole(bytes: Uint8Array): Steps<ChatCompletion> {
    const context = this.#context;
    const received = new ReceivedResponse(withoutByteOrderMark(bytes));
    yield* received.parse(false);
    const completion = messageToChat(received, { created: createdAt(context), model: context.model });
    const repaired = completion && repairCompletion(completion, context);
    if (repaired === undefined) throw noMessage(received, context);
    const { usage, content } = received.json as { usage?: unknown; content: unknown[] };
    const counted = messageUsage(usage, content, context);
    return { json: { ...repaired.json, usage: toChatUsage(counted.tokens) }, ...counted };
  }

  readStream(): ChatChunkSource {
    return new MessagesTargetChunks(this.#context);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    const { json } = new ReceivedResponse(withoutByteOrderMark(body));
    return fromAnthropicError(status, headers, json, toFailureContext(this.#context, this.body));
  }
}

function noMessage({ json }: ReceivedResponse, context: AttemptContext): Error {
  if (typeof json === "object" && json !== null && "error" in json) return fromAnthropicErrorEvent(json, context);
  return notAResponse();
}

class MessagesTargetChunks implements ChatChunkSource {
  readonly texts: TextSource;
  readonly #stream: MessagesToChatStream;

  constructor(context: AttemptContext) {
    const head = { created: createdAt(context), model: context.model };
    this.#stream = new MessagesToChatStream(head, context);
    this.texts = new MessagesTexts(this.#stream.progress);
  }

  get progress() {
    return this.#stream.progress;
  }

  event(event: ServerSentEvent): readonly ChatJson[] {
    return this.#stream.event(event);
  }

  whole(body: Uint8Array): readonly ChatJson[] {
    const events = messageToEvents(new ReceivedResponse(withoutByteOrderMark(body)));
    if (events === undefined) throw new StreamFault("garbage");
    return events.flatMap((event) => this.#stream.event(event));
  }

  end(): readonly ChatJson[] {
    return this.#stream.end();
  }
}
