import type { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/upstream-fault.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import type { ByteSpan } from "../../wire/event-template.js";
import { isRecord } from "../../wire/is-record.js";
import { type Steps, sliceBytes } from "../../wire/slices.js";
import { ChatChunkReader } from "../chat/chat-chunk-reader.js";
import { ChatProgress, contentOfChunk } from "../chat/chat-progress.js";
import type { ChatRequest } from "../chat/chat-request.js";
import { repairCompletion, requireEnds, responseToChunk } from "../chat/chat-response.js";
import { toUpstreamBody } from "../chat/encode-chat-request.js";
import { mostOutputTokens } from "../shared/demand.js";
import { type AttemptContext, readErrorBody, refuseWhole, toFailureContext } from "../shared/exchange.js";
import type { ExchangeFacts } from "../shared/operation.js";
import { ReceivedResponse } from "../shared/received-response.js";
import type { ChatChunkSource, ChatCompletion, ChatJson, ChatSource, TextSource } from "./chat-source.js";

/** An upstream that speaks chat completions, for a client that does not. */
export class ChatTargetSource implements ChatSource {
  readonly operation = "chat/completions";
  readonly body: Uint8Array;
  readonly #context: AttemptContext;

  constructor(body: Uint8Array, context: AttemptContext) {
    this.body = body;
    this.#context = context;
  }

  *readWhole(bytes: Uint8Array): Steps<ChatCompletion> {
    const received = new ReceivedResponse(withoutByteOrderMark(bytes));
    yield* received.parse(false);
    return repairCompletion(received.json, this.#context) ?? refuseWhole(received, this.#context);
  }

  readStream(): ChatChunkSource {
    return new ChatTargetChunks(this.#context);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, toFailureContext(this.#context, this.body));
  }
}

/** The source of a target that speaks chat completions, for a request in their words. */
export function* toChatTarget(
  chat: ChatRequest,
  { target, model, attempt }: ExchangeFacts,
  context: AttemptContext,
): Steps<ChatTargetSource> {
  // The copy of a long one takes a slice of its own.
  if (chat.body.length > sliceBytes) yield;
  const body = toUpstreamBody(chat, {
    model: target.upstreamModel,
    maxOutputTokens: mostOutputTokens(model),
    addedCap: attempt.addedCap,
    dialect: target.rules.dialectFor(chat, target.dialect),
    missing: model.missing,
  });
  return new ChatTargetSource(body, context);
}

class ChatTargetChunks implements ChatChunkSource {
  readonly progress: ChatProgress;
  readonly texts: TextSource;
  readonly #context: AttemptContext;
  readonly #reader: ChatChunkReader;

  constructor(context: AttemptContext) {
    this.#context = context;
    this.progress = new ChatProgress(context);
    this.#reader = new ChatChunkReader(context, this.progress);
    this.texts = new ChatTexts(this.progress);
  }

  event(event: ServerSentEvent): readonly ChatJson[] {
    const chunk = this.#reader.read(event);
    return chunk === undefined ? [] : [chunk.json];
  }

  whole(body: Uint8Array): readonly ChatJson[] {
    const { json } = new ReceivedResponse(withoutByteOrderMark(body));
    if (!isRecord(json)) throw new StreamFault("garbage");
    requireEnds(json, this.#context);
    return this.event({ data: JSON.stringify(responseToChunk(json)), event: undefined });
  }

  end(): readonly ChatJson[] {
    if (!this.progress.isComplete) throw new StreamFault("incomplete");
    return [];
  }
}

/** The chunks that bring content of the first choice alone. */
class ChatTexts implements TextSource {
  readonly textIn = (received: Buffer) => contentOfChunk(received, true);
  readonly #progress: ChatProgress;

  constructor(progress: ChatProgress) {
    this.#progress = progress;
  }

  textCame(bytes: Buffer, { start, end }: Readonly<ByteSpan>, escapes: number): void {
    this.#progress.outputOf(0).addEscaped(bytes, start, end, escapes);
  }
}
