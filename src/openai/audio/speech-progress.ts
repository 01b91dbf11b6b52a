import type { StreamProgress } from "../../metering/progress.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import { readSpeechUsage, type SpeechBounds } from "./speech-usage.js";

/** The progress of speech, whether it comes as bytes or as events. */
export class SpeechProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly awaitsUsage = false;
  readonly reasons = false;
  /** The size of speech says nothing of its tokens. */
  readonly seenOutput = 0;
  readonly #bounds: SpeechBounds;
  #bytes = 0;
  #reported: UsageCounts | undefined;
  #hasEnded = false;
  #isDone = false;

  constructor(bounds: SpeechBounds) {
    this.#bounds = bounds;
  }

  get hasOutput(): boolean {
    return this.#bytes > 0;
  }

  /** Whether the event that ends the speech has come. Bytes end with their connection alone. */
  get isComplete(): boolean {
    return this.#hasEnded;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get isCounted(): boolean {
    return !this.#bounds.byTokens || this.#reported !== undefined;
  }

  get estimated(): boolean {
    return !this.isCounted || this.#bytes === 0;
  }

  get tokens(): UsageCounts {
    const { characters, promptTokens } = this.#bounds;
    if (this.#reported !== undefined) return { ...this.#reported, characters };
    const output = this.#output;
    return { input: promptTokens, cachedInput: 0, output, outputAudio: output, reasoning: 0, characters };
  }

  get #output(): number {
    const { byTokens, outputCap, tokensOf } = this.#bounds;
    if (!byTokens || this.#bytes === 0) return 0;
    return Math.min(outputCap, tokensOf?.(this.#bytes) ?? outputCap);
  }

  /** @param bytes - of audio. */
  came(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The event that ends the speech has come. */
  ended(usage: unknown): void {
    this.#reported = readSpeechUsage(usage) ?? this.#reported;
    this.#hasEnded = true;
  }

  doneCame(): void {
    this.#isDone = true;
  }
}
