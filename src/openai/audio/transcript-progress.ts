import { Buffer } from "node:buffer";
import { guessTokens } from "../../metering/guess-tokens.js";
import type { StreamProgress } from "../../metering/progress.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import { type TranscriptBounds, type TranscriptUse, useOfTranscript } from "./use-of-transcript.js";

/** The progress of a transcript's stream. The stream's reader updates it; the meter reads it. */
export class TranscriptProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly awaitsUsage = false;
  readonly reasons = false;
  readonly #bounds: TranscriptBounds;
  #bytes = 0;
  #hasWords = false;
  /** What has come of the usage, and of what stands in for it. */
  #last: Readonly<Record<string, unknown>> = {};
  #hasEnded = false;
  #isDone = false;

  constructor(bounds: TranscriptBounds) {
    this.#bounds = bounds;
  }

  get seenOutput(): number {
    return guessTokens(this.#bytes);
  }

  get hasOutput(): boolean {
    return this.#bytes > 0 || this.#hasWords || this.#hasEnded;
  }

  get isComplete(): boolean {
    return this.#hasEnded;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get isCounted(): boolean {
    return this.#hasEnded && !this.#use.estimated;
  }

  get estimated(): boolean {
    return this.#use.estimated;
  }

  get tokens(): UsageCounts {
    return this.#use.used;
  }

  get #use(): TranscriptUse {
    return useOfTranscript(this.#last, this.#bounds, this.seenOutput);
  }

  /** Words that may have come before, such as those of a segment. */
  wordsCame(): void {
    this.#hasWords = true;
  }

  textCame(text: string): void {
    this.#bytes += Buffer.byteLength(text);
  }

  /** Some servers send all of it at the end alone. */
  wholeCame(text: string): void {
    this.#bytes = Math.max(this.#bytes, Buffer.byteLength(text));
  }

  /** @param json - what may say how much was used. */
  usageCame(json: Readonly<Record<string, unknown>>): void {
    this.#last = json;
  }

  ended(): void {
    this.#hasEnded = true;
  }

  doneCame(): void {
    this.#isDone = true;
  }
}
