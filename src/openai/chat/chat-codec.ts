import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import { StreamFault } from "../../errors/stream-fault.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { keepAliveComment } from "../../wire/event-frame.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { TemplateShortcut } from "../../wire/templates/template-shortcut.js";
import { openAIErrorBody } from "../openai-error-body.js";
import { answerToChunk } from "./answer-to-chunk.js";
import { ChatChunkReader } from "./chat-chunk-reader.js";
import { ChatChunkWriter } from "./chat-chunk-writer.js";
import { ChatProgress } from "./chat-progress.js";
import { ChunkSource } from "./chunk-source.js";

/** Converts an upstream's chat completion stream into the client's. */
export class ChatCodec {
  readonly progress: ChatProgress;
  readonly shortcut: TemplateShortcut;
  readonly #reader: ChatChunkReader;
  readonly #writer: ChatChunkWriter;

  /** @param includeUsage - the client requested the usage chunk. */
  constructor(context: AnswerContext, includeUsage: boolean) {
    this.progress = new ChatProgress(context);
    this.shortcut = new TemplateShortcut(new ChunkSource(this.progress));
    this.#reader = new ChatChunkReader(context, this.progress);
    this.#writer = new ChatChunkWriter(context, includeUsage);
  }

  /**
   * @returns the event for the client; `undefined` when there is none.
   * @throws StreamFault, or GatewayError for an error that the upstream sent.
   */
  event(event: ServerSentEvent): Uint8Array | undefined {
    const chunk = this.#reader.read(event);
    if (chunk === undefined) return undefined;
    const written = this.#writer.write(chunk);
    this.progress.responseId ??= this.#writer.id;
    return written;
  }

  /**
   * Converts a whole completion, received in reply to a request for a stream, into one chunk.
   * @throws StreamFault `garbage` when it is no completion, or GatewayError for an error.
   */
  whole(body: Uint8Array): Uint8Array | undefined {
    const { json } = new ReceivedAnswer(withoutByteOrderMark(body));
    if (!isRecord(json)) throw new StreamFault("garbage");
    return this.event({ data: JSON.stringify(answerToChunk(json)), event: undefined });
  }

  /** @throws StreamFault `incomplete` */
  end(): Uint8Array {
    if (!this.progress.isComplete) throw new StreamFault("incomplete");
    return this.#writer.end(this.progress);
  }

  keepAlive(): Uint8Array {
    return keepAliveComment;
  }

  fault(error: GatewayError): Uint8Array {
    return Buffer.from(`data: ${openAIErrorBody(error)}\n\n`);
  }
}
