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
