import type { StreamProgress } from "../../prices/progress.js";
import { guessTokens, type UsageCounts } from "../../prices/usage-counts.js";
import { TextSample } from "../../tokens/text-sample.js";
import type { ByteSpan } from "../../wire/event-template.js";
import { type CountedTokens, countedTokens, type EstimateBounds, estimatedOutput } from "../shared/token-estimate.js";
import { messageTally } from "./message-response.js";

/** What has come of a stream of Messages. Its reader writes it; whoever meters the call reads it. */
export class MessageProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly #bounds: EstimateBounds;
  readonly #tally = messageTally();
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
  get tokens(): UsageCounts {
    const { tokens } = this.#counted;
    if (this.#isFinal || this.#tally.report === undefined) return tokens;
    return { ...tokens, output: Math.max(tokens.output, estimatedOutput(this.#bounds, this.#output)) };
  }

  get estimated(): boolean {
    return this.#counted.estimated || (this.#isComplete && !this.#isFinal);
  }

  get #counted(): CountedTokens {
    return countedTokens(this.#tally, this.#bounds, () => this.#output);
  }

  get awaitsUsage(): boolean {
    return this.#isComplete || this.#isBetweenBlocks;
  }

  get unpriced(): string | undefined {
    return this.#tally.unpriced;
  }

  get isCounted(): boolean {
    return this.#isFinal && !this.#counted.estimated;
  }

  get hasOutput(): boolean {
    return this.#output.bytes > 0 || this.#isComplete;
  }

  get seenOutput(): number {
    return guessTokens(this.#output.bytes);
  }

  /** The model has shown that it thinks, or the upstream has counted it. */
  get reasons(): boolean {
    return this.#showsThinking || (this.#tally.report?.tokens.reasoning ?? 0) > 0;
  }

  /** The message has come to its end, and said why. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** `message_stop` has come: nothing behind it counts. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** @returns whether it counts output. */
  usageCame(usage: unknown): boolean {
    const added = this.#tally.add(usage);
    // Zeros count nothing, where more was counted before.
    const isCount = (added?.tokens.output ?? 0) > 0 || this.#tally.report?.tokens.output === 0;
    const isFinal = added?.hasOutput === true && isCount;
    if (isFinal && this.#isComplete) this.#isFinal = true;
    return isFinal;
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
