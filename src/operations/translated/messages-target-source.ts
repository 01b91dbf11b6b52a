import { messageToEvents } from "../../anthropic/messages/message-to-events.js";
import { messageUsage } from "../../anthropic/messages/message-usage.js";
import { fromAnthropicError, fromAnthropicErrorEvent } from "../../anthropic/upstream-error.js";
import { notAResponse } from "../../errors/not-a-response.js";
import { StreamFault } from "../../errors/stream-fault.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { createdAt, repairCompletion } from "../../openai/chat/chat-answer.js";
import { toChatUsage } from "../../translate/chat/chat-usage.js";
import { messageToChat } from "../../translate/message-to-chat.js";
import { MessagesToChatStream } from "../../translate/messages-to-chat-stream.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import type { Steps } from "../../wire/slices.js";
import { toFailureContext } from "../answer-context.js";
import type { ChatChunkSource, ChatCompletion, ChatJson, ChatSource } from "./chat-source.js";
import { MessagesTexts } from "./messages-texts.js";
import type { TextSource } from "./text-shortcut.js";

/** An upstream that speaks Anthropic's Messages, for a client that does not. */
export class MessagesTargetSource implements ChatSource {
  readonly operation = "messages";
  readonly body: Uint8Array;
  readonly #context: AnswerContext;

  constructor(body: Uint8Array, context: AnswerContext) {
    this.body = body;
    this.#context = context;
  }

  *readWhole(bytes: Uint8Array): Steps<ChatCompletion> {
    const context = this.#context;
    const received = new ReceivedAnswer(withoutByteOrderMark(bytes));
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
    const { json } = new ReceivedAnswer(withoutByteOrderMark(body));
    return fromAnthropicError(status, headers, json, toFailureContext(this.#context, this.body));
  }
}

function noMessage({ json }: ReceivedAnswer, context: AnswerContext): Error {
  if (typeof json === "object" && json !== null && "error" in json) return fromAnthropicErrorEvent(json, context);
  return notAResponse();
}

class MessagesTargetChunks implements ChatChunkSource {
  readonly texts: TextSource;
  readonly #stream: MessagesToChatStream;

  constructor(context: AnswerContext) {
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
    const events = messageToEvents(new ReceivedAnswer(withoutByteOrderMark(body)));
    if (events === undefined) throw new StreamFault("garbage");
    return events.flatMap((event) => this.#stream.event(event));
  }

  end(): readonly ChatJson[] {
    return this.#stream.end();
  }
}
