import type { GatewayError } from "../../errors/gateway-error.js";
import type { TokenCounts } from "../../prices/usage-counts.js";
import type { Outgoing, Steps } from "../../wire/slices.js";
import {
  type ChatChunkSink,
  type ChatCompletion,
  type ChatJson,
  type ChatSink,
  type TextSink,
  textOfBlock,
} from "./chat-source.js";
import { messageOfChatSteps } from "./chat-to-message.js";
import { ChatToMessagesStream, type MessageStreamHead } from "./chat-to-messages-stream.js";
import type { MessageTranslation } from "./message-translation.js";

/** A piece of text changes nothing of what comes behind it. */
const messagesSink: TextSink = { textIn: textOfBlock, count: 0 };

/** A client of Anthropic's Messages, for an upstream that does not speak them. */
export class MessagesClientSink implements ChatSink {
  readonly #head: MessageStreamHead;
  readonly #translation: MessageTranslation;

  constructor(head: MessageStreamHead, translation: MessageTranslation) {
    this.#head = head;
    this.#translation = translation;
  }

  whole({ json, tokens: usage }: ChatCompletion, expectedBytes: number): Steps<Uint8Array> {
    return messageOfChatSteps(json, this.#head, this.#translation, { usage, expectedBytes });
  }

  responseId(): string {
    return this.#head.messageId;
  }

  stream(): ChatChunkSink {
    return new MessagesClientChunks(this.#head, this.#translation);
  }
}

class MessagesClientChunks implements ChatChunkSink {
  readonly responseId: string;
  readonly texts: TextSink = messagesSink;
  readonly #stream: ChatToMessagesStream;

  constructor(head: MessageStreamHead, translation: MessageTranslation) {
    this.responseId = head.messageId;
    this.#stream = new ChatToMessagesStream(head, translation);
  }

  chunk(chunk: ChatJson): Outgoing {
    return this.#stream.chunk(chunk);
  }

  end(tokens: TokenCounts): Outgoing {
    return this.#stream.end(tokens);
  }

  fault(error: GatewayError): Uint8Array {
    return this.#stream.fault(error);
  }

  keepAlive(): Uint8Array {
    return this.#stream.keepAlive;
  }
}
