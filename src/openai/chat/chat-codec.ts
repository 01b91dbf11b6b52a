import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { TemplateShortcut } from "../../wire/templates/template-shortcut.js";
import { ChoiceUsage, reportsOneChoice } from "../usage/choice-usage.js";
import { answerToChunk } from "./answer-to-chunk.js";
import { ChatChunkReader } from "./chat-chunk-reader.js";
import { ChatChunkWriter } from "./chat-chunk-writer.js";
import { ChatProgress } from "./chat-progress.js";
import { ChunkCodec } from "./chunk-codec.js";
import { ChunkSource } from "./chunk-source.js";

/** Converts an upstream's chat completion stream into the client's. */
export class ChatCodec extends ChunkCodec {
  readonly shortcut: TemplateShortcut;

  /** @param includeUsage - the client requested the usage chunk. @param n - the number of choices that it requested. */
  constructor(context: AnswerContext, includeUsage: boolean, n = 1) {
    const progress = new ChatProgress(context);
    const ofChoices = reportsOneChoice(context.dialect, n) ? new ChoiceUsage(n) : undefined;
    const reader = new ChatChunkReader(context, progress, undefined, ofChoices);
    super(context, progress, reader, new ChatChunkWriter(context, includeUsage));
    this.shortcut = new TemplateShortcut(new ChunkSource(progress));
  }

  protected toChunk(answer: Record<string, unknown>) {
    return answerToChunk(answer);
  }
}
