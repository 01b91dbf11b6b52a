import { guessTokens } from "../../metering/guess-tokens.js";
import type { StreamProgress } from "../../metering/progress.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { type EstimateBounds, estimatedOutput, estimatedTokens } from "../../model-api/media/token-estimate.js";
import { TextSample } from "../../tokens/text-sample.js";
import type { ByteSpan } from "../../wire/templates/measure-string.js";
import { UsageTally } from "../usage.js";

/** What has come of a stream of Messages. Its reader writes it; whoever meters the call reads it. */
export class MessageProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly #bounds: EstimateBounds;
  readonly #tally = new UsageTally();
  readonly #output = new TextSample();
  /** A block has ended, and no other has begun. */
  #isBetweenBlocks = false;
  #isFinal = false;
  #isComplete = false;
  #isDone = false;
  #showsThinking = false;

  constructor(bounds: EstimateBounds) {
    this.#bounds = bounds;
  }

  /** Without a report of the whole message, what was seen is estimated. */
  get tokens(): TokenCounts {
    const { counts } = this.#tally;
    if (counts === undefined) return estimatedTokens(this.#bounds, this.#output);
    const input = counts.input === 0 ? this.#bounds.promptTokens : counts.input;
    if (this.#isFinal) return { ...counts, input };
    return { ...counts, input, output: Math.max(counts.output, estimatedOutput(this.#bounds, this.#output)) };
  }

  get estimated(): boolean {
    const { counts } = this.#tally;
    return counts === undefined || (this.#isComplete && (!this.#isFinal || counts.input === 0));
  }

  get awaitsUsage(): boolean {
    return this.#isComplete || this.#isBetweenBlocks;
  }

  get unpriced(): string | undefined {
    return this.#tally.unpriced;
  }

  get isCounted(): boolean {
    return this.#tally.counts !== undefined && this.#isFinal;
  }

  get hasOutput(): boolean {
    return this.#output.bytes > 0 || this.#isComplete;
  }

  get seenOutput(): number {
    return guessTokens(this.#output.bytes);
  }

  /** The model has shown that it thinks, or the upstream has counted it. */
  get reasons(): boolean {
    return this.#showsThinking || (this.#tally.counts?.reasoning ?? 0) > 0;
  }

  /** The message has come to its end, and said why. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** `message_stop` has come: nothing behind it counts. */
  get isDone(): boolean {
    return this.#isDone;
  }

  usageCame(usage: unknown): void {
    this.#tally.add(usage);
  }

  /** A block has begun or grown. @param text - what of it has come; may be empty. */
  outputCame(text: string): void {
    this.#isBetweenBlocks = false;
    this.#output.addText(text);
  }

  /** The same of a delta whose text stands in the bytes, with so many escapes. */
  textCame(bytes: Uint8Array, { start, end }: Readonly<ByteSpan>, escapes: number): void {
    this.#isBetweenBlocks = false;
    this.#output.addEscaped(bytes, start, end, escapes);
  }

  blockEnded(): void {
    this.#isBetweenBlocks = true;
  }

  reasoningCame(): void {
    this.#showsThinking = true;
  }

  /** @param isFinal - the usage of the whole message came with the end. */
  endCame(isFinal: boolean): void {
    this.#isComplete = true;
    this.#isFinal = isFinal;
  }

  doneCame(): void {
    this.#isDone = true;
  }
}
