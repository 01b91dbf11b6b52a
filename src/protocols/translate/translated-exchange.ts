import type { GatewayError } from "../../errors/gateway-error.js";
import type { OperationName } from "../../prices/operation-name.js";
import type { ModelResponse } from "../../prices/progress.js";
import { runtime } from "../../runtime/this-runtime.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { TemplateShortcut } from "../../wire/event-template.js";
import { bySize, joinOutgoing, type Outgoing, type Steps } from "../../wire/slices.js";
import { type ChatRequest, parseChatRequest } from "../chat/chat-request.js";
import { firstFinish } from "../chat/chat-response.js";
import { deepestBody } from "../shared/json-request.js";
import type { Exchange, ModelTraits, TargetTraits } from "../shared/operation.js";
import type { StreamCodec } from "../shared/stream-codec.js";
import { type EstimateBounds, partialTokens } from "../shared/token-estimate.js";
import {
  type ChatChunkSink,
  type ChatChunkSource,
  type ChatJson,
  type ChatSink,
  type ChatSource,
  TextShortcut,
} from "./chat-source.js";

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

  readWhole(bytes: Uint8Array): ModelResponse | Promise<ModelResponse> {
    return bySize(bytes.length, this.#wholeSteps(bytes));
  }

  *#wholeSteps(bytes: Uint8Array): Steps<ModelResponse> {
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

/** A translation puts what it was given under a few levels more. */
const mostDepth = deepestBody + 64;

/** Reads a chat completion's request that a translation has written. @param bytes - JSON. */
export function translatedSteps(bytes: Uint8Array): Steps<ChatRequest> {
  return parseChatRequest(bytes, mostDepth);
}

/** An opaque mark of a target, for what its model wants back of its thoughts: another model could not use it. */
export function originOf({ upstreamModel }: TargetTraits, { id }: ModelTraits): string {
  return runtime.sha256(`${id}\n${upstreamModel}`, "base64url").slice(0, 16);
}
