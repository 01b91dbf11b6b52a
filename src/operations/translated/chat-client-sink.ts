import type { GatewayError } from "../../errors/gateway-error.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { toUsageObject } from "../../model-api/answer/usage.js";
import { ChatChunkWriter } from "../../openai/chat/chat-chunk-writer.js";
import { contentOfChunk } from "../../openai/chat/chunk-source.js";
import { errorEvent } from "../../openai/error-event.js";
import { chunkParts } from "../../translate/chat/chunk-parts.js";
import { keepAliveComment } from "../../wire/event-frame.js";
import { isRecord } from "../../wire/is-record.js";
import { jsonSteps } from "../../wire/sliced/json-steps.js";
import { joinOutgoing, LateBytes, type Outgoing } from "../../wire/sliced/late-bytes.js";
import type { Steps } from "../../wire/slices.js";
import type { ChatChunkSink, ChatCompletion, ChatJson, ChatSink } from "./chat-source.js";
import type { TextSink } from "./text-shortcut.js";

/** A client of chat completions, for an upstream that does not speak them. */
export class ChatClientSink implements ChatSink {
  readonly #context: AnswerContext;
  readonly #includeUsage: boolean;

  constructor(context: AnswerContext, includeUsage: boolean) {
    this.#context = context;
    this.#includeUsage = includeUsage;
  }

  /** With its usage, also where the upstream has not counted. */
  *whole({ json, tokens }: ChatCompletion, expectedBytes: number): Steps<Uint8Array> {
    return yield* jsonSteps(isRecord(json["usage"]) ? json : { ...json, usage: toUsageObject(tokens) }, expectedBytes);
  }

  responseId({ id }: ChatJson): string | undefined {
    return typeof id === "string" ? id : undefined;
  }

  stream(): ChatChunkSink {
    return new ChatClientChunks(this.#context, this.#includeUsage);
  }
}

/** A piece of text changes nothing of what comes behind it. */
const chatSink: TextSink = { textIn: (sent) => contentOfChunk(sent, false), count: 0 };

class ChatClientChunks implements ChatChunkSink {
  readonly texts = chatSink;
  readonly #writer: ChatChunkWriter;
  #usage: Record<string, unknown> | undefined;

  constructor(context: AnswerContext, includeUsage: boolean) {
    this.#writer = new ChatChunkWriter(context, includeUsage);
  }

  get responseId(): string | undefined {
    return this.#writer.id;
  }

  chunk(json: ChatJson): Outgoing | undefined {
    const parts = chunkParts(json);
    if (parts === undefined) return this.#write(json);
    const written = this.#writeAll(parts);
    // The first one says what the response is called.
    const first = written.next();
    return first.done ? undefined : joinOutgoing([first.value, new LateBytes(written)]);
  }

  *#writeAll(parts: Iterable<ChatJson>): Generator<Uint8Array, void> {
    for (const part of parts) yield this.#write(part) ?? new Uint8Array();
  }

  #write(json: ChatJson): Uint8Array | undefined {
    const usage = isRecord(json["usage"]) ? json["usage"] : undefined;
    this.#usage = usage ?? this.#usage;
    return this.#writer.write({ json, text: JSON.stringify(json), isRepaired: false, usage });
  }

  end(tokens: TokenCounts): Uint8Array {
    return this.#writer.end({ tokens, reportedUsage: this.#usage });
  }

  fault(error: GatewayError): Uint8Array {
    return errorEvent(error);
  }

  keepAlive(): Uint8Array {
    return keepAliveComment;
  }
}
