import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import { StreamFault } from "../../errors/stream-fault.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { ChatChunkReader } from "../../openai/chat/chat-chunk-reader.js";
import { ChatChunkWriter } from "../../openai/chat/chat-chunk-writer.js";
import { ChatProgress } from "../../openai/chat/chat-progress.js";
import { textWords } from "../../openai/chat/completion-words.js";
import { openAIErrorBody } from "../../openai/openai-error-body.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import { keepAliveComment } from "../../wire/event-frame.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import type { StreamCodec } from "../stream-codec.js";
import type { AskedChoices } from "./completion-choices.js";
import { CompletionRepair } from "./completion-repair.js";

/** Converts an upstream's stream of completions into the client's. Its chunks are those of chat, with texts for deltas. */
export class CompletionCodec implements StreamCodec {
  readonly progress: ChatProgress;
  readonly #reader: ChatChunkReader;
  readonly #writer: ChatChunkWriter;

  /** @param includeUsage - the client requested the usage chunk. */
  constructor(context: AnswerContext, asked: AskedChoices, includeUsage: boolean) {
    this.progress = new ChatProgress(context, asked);
    this.#reader = new ChatChunkReader(context, this.progress, new CompletionRepair(asked, this.progress));
    this.#writer = new ChatChunkWriter(context, includeUsage, textWords);
  }

  event(event: ServerSentEvent): Uint8Array | undefined {
    const chunk = this.#reader.read(event);
    if (chunk === undefined) return undefined;
    const written = this.#writer.write(chunk);
    this.progress.responseId ??= this.#writer.id;
    return written;
  }

  whole(body: Uint8Array): Uint8Array | undefined {
    const { json } = new ReceivedAnswer(withoutByteOrderMark(body));
    if (!isRecord(json)) throw new StreamFault("garbage");
    return this.event({ data: JSON.stringify(finished(json)), event: undefined });
  }

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

/** A whole completion as the only chunk of a stream. */
function finished(answer: Record<string, unknown>): Record<string, unknown> {
  const { choices } = answer;
  if (!Array.isArray(choices)) return answer;
  return {
    ...answer,
    choices: choices.map((choice: unknown) =>
      isRecord(choice) && typeof choice["finish_reason"] !== "string" ? { ...choice, finish_reason: "stop" } : choice,
    ),
  };
}
