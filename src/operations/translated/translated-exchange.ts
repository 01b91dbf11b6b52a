import type { GatewayError } from "../../errors/gateway-error.js";
import type { ModelAnswer } from "../../metering/model-answer.js";
import type { OperationName } from "../../metering/operation-name.js";
import { type EstimateBounds, partialTokens } from "../../model-api/media/token-estimate.js";
import { firstFinish } from "../../openai/chat/chat-answer.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { joinOutgoing, type Outgoing } from "../../wire/sliced/late-bytes.js";
import { bySize, type Steps } from "../../wire/slices.js";
import { TemplateShortcut } from "../../wire/templates/template-shortcut.js";
import type { Exchange } from "../operation.js";
import type { StreamCodec } from "../stream-codec.js";
import type { ChatChunkSink, ChatChunkSource, ChatJson, ChatSink, ChatSource } from "./chat-source.js";
import { TextShortcut } from "./text-shortcut.js";

/** An exchange whose upstream does not speak the client's protocol: chat completions stand between the two. */
export class TranslatedExchange implements Exchange {
  readonly operation: OperationName;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly keep: Exchange["keep"];
  readonly #source: ChatSource;
  readonly #sink: ChatSink;
  readonly #bounds: EstimateBounds;

  constructor(source: ChatSource, sink: ChatSink, bounds: EstimateBounds) {
    this.operation = source.operation;
    this.body = source.body;
    this.headers = source.headers;
    this.keep = sink.keep;
    this.#source = source;
    this.#sink = sink;
    this.#bounds = bounds;
  }

  readWhole(bytes: Uint8Array): ModelAnswer | Promise<ModelAnswer> {
    return bySize(bytes.length, this.#wholeSteps(bytes));
  }

  *#wholeSteps(bytes: Uint8Array): Steps<ModelAnswer> {
    const completion = yield* this.#source.readWhole(bytes);
    const { json, tokens, estimated, unpriced } = completion;
    const body = yield* this.#sink.whole(completion, bytes.length);
    const responseId = this.#sink.responseId(json);
    return { body, tokens, estimated, unpriced, responseId, finishReason: firstFinish(json["choices"]) };
  }

  partialTokens(pieces: readonly Uint8Array[]) {
    return partialTokens(this.#bounds, pieces);
  }

  readStream(): StreamCodec {
    return new TranslatedCodec(this.#source.readStream(), this.#sink.stream());
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError {
    return this.#source.readError(status, headers, body);
  }
}

class TranslatedCodec implements StreamCodec {
  readonly shortcut?: TemplateShortcut;
  readonly #source: ChatChunkSource;
  readonly #sink: ChatChunkSink;

  constructor(source: ChatChunkSource, sink: ChatChunkSink) {
    this.#source = source;
    this.#sink = sink;
    if (source.texts === undefined || sink.texts === undefined) return;
    this.shortcut = new TemplateShortcut(new TextShortcut(source.texts, sink.texts));
  }

  get progress() {
    return this.#source.progress;
  }

  event(event: ServerSentEvent): Outgoing | undefined {
    // Behind it, a text may belong to another part of the answer.
    this.shortcut?.forget();
    return this.#write(this.#source.event(event));
  }

  whole(body: Uint8Array): Outgoing | undefined {
    return this.#write(this.#source.whole(body));
  }

  end(): Outgoing {
    const last = this.#write(this.#source.end());
    const end = this.#sink.end(this.progress.tokens);
    return (last && joinOutgoing([last, end])) ?? end;
  }

  fault(error: GatewayError): Uint8Array {
    return this.#sink.fault(error);
  }

  keepAlive(): Uint8Array {
    return this.#sink.keepAlive();
  }

  #write(chunks: readonly ChatJson[]): Outgoing | undefined {
    const written: Outgoing[] = [];
    const { progress } = this;
    for (const chunk of chunks) {
      const piece = this.#sink.chunk(chunk);
      progress.finishReason ??= firstFinish(chunk["choices"]);
      if (piece === undefined || (piece instanceof Uint8Array && piece.length === 0)) continue;
      progress.responseId = this.#sink.responseId;
      written.push(piece);
    }
    return joinOutgoing(written);
  }
}
