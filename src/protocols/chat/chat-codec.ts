import type { GatewayError } from "../../errors/gateway-error.js";
import { StreamFault } from "../../errors/upstream-fault.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { TemplateShortcut } from "../../wire/event-template.js";
import { isRecord } from "../../wire/is-record.js";
import { keepAliveComment } from "../../wire/plain-event.js";
import type { AttemptContext } from "../shared/exchange.js";
import { errorEvent } from "../shared/openai-protocol.js";
import { ReceivedResponse } from "../shared/received-response.js";
import { ChatChunkReader } from "./chat-chunk-reader.js";
import { ChatChunkWriter } from "./chat-chunk-writer.js";
import { ChatProgress, ChunkSource } from "./chat-progress.js";
import { requireEnds, responseToChunk } from "./chat-response.js";
import { ChoiceUsage, reportsOneChoice } from "./choice-usage.js";

/** Converts an upstream's stream of chunks into the client's: those of chat, or of completions of texts. */
export abstract class ChunkCodec {
  readonly progress: ChatProgress;
  readonly #context: Pick<AttemptContext, "dialect">;
  readonly #reader: ChatChunkReader;
  readonly #writer: ChatChunkWriter;

  constructor(context: AttemptContext, progress: ChatProgress, reader: ChatChunkReader, writer: ChatChunkWriter) {
    this.#context = context;
    this.progress = progress;
    this.#reader = reader;
    this.#writer = writer;
  }

  /** A whole answer as the only chunk of a stream. */
  protected abstract toChunk(answer: Record<string, unknown>): Record<string, unknown>;

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
    const { json } = new ReceivedResponse(withoutByteOrderMark(body));
    if (!isRecord(json)) throw new StreamFault("garbage");
    requireEnds(json, this.#context);
    return this.event({ data: JSON.stringify(this.toChunk(json)), event: undefined });
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
    return errorEvent(error);
  }
}

/** Converts an upstream's chat completion stream into the client's. */
export class ChatCodec extends ChunkCodec {
  readonly shortcut: TemplateShortcut;

  /** @param includeUsage - the client requested the usage chunk. @param n - the number of choices that it requested. */
  constructor(context: AttemptContext, includeUsage: boolean, n = 1) {
    const progress = new ChatProgress(context);
    const ofChoices = reportsOneChoice(context.dialect, n) ? new ChoiceUsage(n) : undefined;
    const reader = new ChatChunkReader(context, progress, undefined, ofChoices);
    super(context, progress, reader, new ChatChunkWriter(context, includeUsage));
    this.shortcut = new TemplateShortcut(new ChunkSource(progress));
  }

  protected toChunk(answer: Record<string, unknown>) {
    return responseToChunk(answer);
  }
}
