import type { StreamProgress } from "../../metering/progress.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { estimatedTokens, estimateTokens } from "../../openai/media/token-estimate.js";
import { UsageTally } from "../usage.js";

/** What has come of a stream of Messages. Its reader writes it; whoever meters the call reads it. */
export class MessageProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly #promptTokens: number;
  readonly #tally = new UsageTally();
  #outputBytes = 0;
  #isFinal = false;
  #isComplete = false;
  #isDone = false;
  #showsThinking = false;

  /** @param promptTokens - what the prompt counts when the upstream does not say. */
  constructor(promptTokens: number) {
    this.#promptTokens = promptTokens;
  }

  /** Without a report of the whole message, what was seen is estimated. */
  get tokens(): TokenCounts {
    const seen = estimatedTokens(this.#promptTokens, this.#outputBytes);
    const { counts } = this.#tally;
    if (counts === undefined) return seen;
    const input = counts.input === 0 ? seen.input : counts.input;
    return this.#isFinal ? { ...counts, input } : { ...counts, input, output: Math.max(counts.output, seen.output) };
  }

  get estimated(): boolean {
    return this.#tally.counts === undefined;
  }

  get isCounted(): boolean {
    return this.#tally.counts !== undefined && this.#isFinal;
  }

  get hasOutput(): boolean {
    return this.#outputBytes > 0 || this.#isComplete;
  }

  get seenOutput(): number {
    return estimateTokens(this.#outputBytes);
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

  outputCame(bytes: number): void {
    this.#outputBytes += bytes;
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
