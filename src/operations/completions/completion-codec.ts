import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { isEnd } from "../../model-api/answer/ends.js";
import { finishOf } from "../../openai/chat/chat-answer.js";
import { ChatChunkReader } from "../../openai/chat/chat-chunk-reader.js";
import { ChatChunkWriter } from "../../openai/chat/chat-chunk-writer.js";
import { ChatProgress } from "../../openai/chat/chat-progress.js";
import { ChunkCodec } from "../../openai/chat/chunk-codec.js";
import { textWords } from "../../openai/chat/completion-words.js";
import { ChoiceUsage, reportsOneChoice } from "../../openai/usage/choice-usage.js";
import { isRecord } from "../../wire/is-record.js";
import type { StreamCodec } from "../stream-codec.js";
import type { AskedChoices } from "./completion-choices.js";
import { CompletionRepair } from "./completion-repair.js";

/** Converts an upstream's stream of completions into the client's. Its chunks are those of chat, with texts for deltas. */
export class CompletionCodec extends ChunkCodec implements StreamCodec {
  /** @param includeUsage - the client requested the usage chunk. */
  constructor(context: AnswerContext, asked: AskedChoices, includeUsage: boolean) {
    const progress = new ChatProgress(context, asked);
    const ofChoices = reportsOneChoice(context.dialect, asked.all) ? new ChoiceUsage(asked.n) : undefined;
    const reader = new ChatChunkReader(context, progress, new CompletionRepair(asked, progress), ofChoices);
    super(context, progress, reader, new ChatChunkWriter(context, includeUsage, textWords));
  }

  /** A choice without an end has ended with the document. */
  protected toChunk(answer: Record<string, unknown>): Record<string, unknown> {
    const { choices } = answer;
    if (!Array.isArray(choices)) return answer;
    return {
      ...answer,
      choices: choices.map((choice: unknown) =>
        isRecord(choice) && !isEnd(choice["finish_reason"]) ? { ...choice, finish_reason: finishOf(false) } : choice,
      ),
    };
  }
}
