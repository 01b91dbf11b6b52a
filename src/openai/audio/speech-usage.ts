import { readTokenCount } from "../../metering/token-counts.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";

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

/** @returns `undefined` when there is none. No sound is without tokens: a server that counts none has counted nothing. */
export function readSpeechUsage(usage: unknown): UsageCounts | undefined {
  if (!isRecord(usage)) return undefined;
  const input = readTokenCount(usage["input_tokens"]);
  const output = readTokenCount(usage["output_tokens"]);
  if (input === undefined || output === undefined || output === 0) return undefined;
  return { input, cachedInput: 0, output, outputAudio: output, reasoning: 0 };
}

/** Of PCM, which has 24,000 samples of two bytes a second. */
const pcmBytesPerSecond = 48_000;

/** @param tokensPerSecond - of speech, at the most. */
export function pcmTokens(tokensPerSecond: number): (bytes: number) => number {
  return (bytes) => Math.ceil((bytes / pcmBytesPerSecond) * tokensPerSecond);
}
