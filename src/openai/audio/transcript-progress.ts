import { guessTokens } from "../../metering/guess-tokens.js";
import type { StreamProgress } from "../../metering/progress.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import { estimatedOutput } from "../../model-api/media/token-estimate.js";
import { TextSample } from "../../tokens/text-sample.js";
import type { TranscriptContext } from "./transcript-answer.js";
import { type TranscriptUse, useOfTranscript } from "./use-of-transcript.js";

/** The progress of a transcript's stream. The stream's reader updates it; the meter reads it. */
export class TranscriptProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly awaitsUsage = false;
  readonly reasons = false;
  readonly #context: TranscriptContext;
  #text = new TextSample();
  #hasWords = false;
  /** What has come of the usage, and of what stands in for it. */
  #last: Readonly<Record<string, unknown>> = {};
  #hasEnded = false;
  #isDone = false;

  constructor(context: TranscriptContext) {
    this.#context = context;
  }

  get seenOutput(): number {
    return guessTokens(this.#text.bytes);
  }

  get hasOutput(): boolean {
    return this.#text.bytes > 0 || this.#hasWords || this.#hasEnded;
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
    return useOfTranscript(this.#last, this.#context, estimatedOutput(this.#context, this.#text));
  }

  /** Words that may have come before, such as those of a segment. */
  wordsCame(): void {
    this.#hasWords = true;
  }

  textCame(text: string): void {
    this.#text.addText(text);
  }

  /** Some servers send all of it at the end alone. */
  wholeCame(text: string): void {
    const whole = new TextSample();
    whole.addText(text);
    if (whole.bytes > this.#text.bytes) this.#text = whole;
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
