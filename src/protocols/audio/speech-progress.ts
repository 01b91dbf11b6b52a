import type { StreamProgress } from "../../prices/progress.js";
import type { UsageCounts } from "../../prices/usage-counts.js";
import { readReport, type TokenReport } from "../shared/usage-tally.js";

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
  #reported: TokenReport | undefined;
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
    const report = this.#reported;
    return !this.#bounds.byTokens || (report?.hasInput === true && report.tokens.output > 0);
  }

  get estimated(): boolean {
    return !this.isCounted || this.#bytes === 0;
  }

  get tokens(): UsageCounts {
    const { characters, promptTokens } = this.#bounds;
    const report = this.#reported;
    const input = report?.hasInput ? report.tokens.input : promptTokens;
    // No sound is without tokens: a server that counts none has counted nothing.
    const output = report?.tokens.output || this.#output;
    return { input, cachedInput: 0, output, outputAudio: output, reasoning: 0, characters };
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
    this.#reported = readReport(usage) ?? this.#reported;
    this.#hasEnded = true;
  }

  doneCame(): void {
    this.#isDone = true;
  }
}

/** What is needed to count speech. */
export interface SpeechBounds {
  /** The tokens of the text where the upstream reports no usage. */
  readonly promptTokens: number;
  readonly characters: number;
  /** Whether its model is priced by tokens; otherwise the text says all. */
  readonly byTokens: boolean;
  /** The most tokens of output. */
  readonly outputCap: number;
  /** The most tokens of so many bytes; `undefined`: bytes say nothing of them. */
  readonly tokensOf: ((bytes: number) => number) | undefined;
}

/** Of PCM, which has 24,000 samples of two bytes a second. */
const pcmBytesPerSecond = 48_000;

/** @param tokensPerSecond - of speech, at the most. */
export function pcmTokens(tokensPerSecond: number): (bytes: number) => number {
  return (bytes) => Math.ceil((bytes / pcmBytesPerSecond) * tokensPerSecond);
}
