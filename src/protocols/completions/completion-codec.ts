import { StreamFault } from "../../errors/upstream-fault.js";
import { isRecord } from "../../wire/is-record.js";
import { ChatChunkReader, type ChoiceRepair } from "../chat/chat-chunk-reader.js";
import { ChatChunkWriter } from "../chat/chat-chunk-writer.js";
import { ChunkCodec } from "../chat/chat-codec.js";
import { ChatProgress } from "../chat/chat-progress.js";
import { finishOf, textWords } from "../chat/chat-response.js";
import { ChoiceUsage, reportsOneChoice } from "../chat/choice-usage.js";
import type { AttemptContext } from "../shared/exchange.js";
import { isEnd, requireNoFailure } from "../shared/received-response.js";
import type { StreamCodec } from "../shared/stream-codec.js";
import { type AskedChoices, repairChoice, repairLogprobs } from "./completion-response.js";

/** Converts an upstream's stream of completions into the client's. Its chunks are those of chat, with texts for deltas. */
export class CompletionCodec extends ChunkCodec implements StreamCodec {
  /** @param includeUsage - the client requested the usage chunk. */
  constructor(context: AttemptContext, asked: AskedChoices, includeUsage: boolean) {
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

/** Repairs the choices of a stream's chunks where clients would fail, and measures what the model has written. */
class CompletionRepair implements ChoiceRepair {
  readonly #asked: AskedChoices;
  readonly #progress: ChatProgress;
  /** Whether each choice that began has ended. */
  readonly #ended = new Map<number, boolean>();
  /** How much text each choice with repaired log probabilities has. */
  readonly #lengths = new Map<number, number>();

  constructor(asked: AskedChoices, progress: ChatProgress) {
    this.#asked = asked;
    this.#progress = progress;
  }

  repair(choices: readonly unknown[]): boolean {
    let isRepaired = false;
    for (const [position, choice] of choices.entries()) {
      const repaired = repairChoice(choice, position);
      if (repaired === undefined) throw new StreamFault("garbage");
      if (repaired) isRepaired = true;
      if (this.#read(choice as Record<string, unknown>)) isRepaired = true;
      if (this.#repairLogprobs(choice as Record<string, unknown>)) isRepaired = true;
    }
    return isRepaired;
  }

  /** @returns whether the end of the choice was repaired. */
  #read(choice: Record<string, unknown>): boolean {
    const index = choice["index"] as number;
    const finish = choice["finish_reason"] ?? null;
    this.#begin(index);
    this.#progress.outputOf(index).addText(this.#asked.written(index, choice["text"] as string));
    requireNoFailure(finish);
    if (isEnd(finish) && this.#ended.get(index) === false) {
      this.#ended.set(index, true);
      this.#progress.choiceFinished();
      if (index === 0) this.#progress.finishReason = finish;
    }
    if (isEnd(finish) || finish === null) return false;
    choice["finish_reason"] = null;
    return true;
  }

  missingEnds(): object[] {
    return [...this.#ended].flatMap(([index, hasEnded]) =>
      hasEnded ? [] : [{ index, text: "", logprobs: null, finish_reason: finishOf(false) }],
    );
  }

  #repairLogprobs(choice: Record<string, unknown>): boolean {
    const index = choice["index"] as number;
    const offset = this.#lengths.get(index) ?? 0;
    const isRepaired = repairLogprobs(choice, offset);
    if (isRepaired) this.#lengths.set(index, offset + (choice["text"] as string).length);
    return isRepaired;
  }

  #begin(index: number): void {
    if (this.#ended.has(index)) return;
    if (index < 0 || index >= this.#asked.all) throw new StreamFault("garbage");
    this.#ended.set(index, false);
    this.#progress.choiceBegan();
  }
}
