import { largestCount, type UsageCounts } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";
import type { Dialect } from "../shared/dialect.js";
import { visibleUsage } from "../shared/usage-object.js";
import { findReport, partPlaces } from "../shared/usage-report.js";
import { countAt, readReport } from "../shared/usage-tally.js";

/** What is needed to count what a model hears. */
export interface TranscriptBounds {
  /** Of the audio, where the upstream does not say. */
  readonly audioMs: number;
  /** Of the prompt and the audio, where the upstream reports no usage. */
  readonly promptTokens: number;
  /** Those that stand for audio. */
  readonly inputAudio: number;
  /** Whether its model is priced by tokens; otherwise by the time. */
  readonly byTokens: boolean;
  /** Whether {@link audioMs} is the length of the audio, and no bound. */
  readonly isMeasured: boolean;
}

/** What a transcript says of what it cost. */
export interface TranscriptUse {
  readonly used: UsageCounts;
  /** Whether what its model is priced by was not reported. */
  readonly estimated: boolean;
}

/** @param outputTokens - of the transcript, where nothing is reported. */
export function useOfTranscript(
  json: Readonly<Record<string, unknown>>,
  bounds: TranscriptBounds,
  outputTokens: number,
): TranscriptUse {
  const usage = findReport(json);
  const report = readReport(usage);
  const audioMs = readMs(json, bounds);
  const hasInput = report?.hasInput === true;
  const hasOutput = report?.hasOutput === true && (report.tokens.output > 0 || outputTokens === 0);
  const input = hasInput ? report.tokens.input : bounds.promptTokens;
  const inputAudio = hasInput ? audioOf(report.tokens, usage) : bounds.inputAudio;
  const output = hasOutput ? report.tokens.output : outputTokens;
  return {
    used: { input, cachedInput: 0, inputAudio, output, reasoning: 0, audioMs: audioMs ?? bounds.audioMs },
    estimated: bounds.byTokens ? !hasInput || !hasOutput : audioMs === undefined,
  };
}

/** What is not said to be of a text stands for audio. */
function audioOf({ input, inputAudio }: UsageCounts, usage: Record<string, unknown> = {}): number {
  if (inputAudio !== undefined) return inputAudio;
  return Math.max(0, input - (countAt(usage, partPlaces.inputText) ?? 0));
}

/** The `usage` for the client: the server's own, else what is charged, in its unit. */
export function transcriptUsage(
  reported: unknown,
  { input, output, audioMs = 0 }: UsageCounts,
  { byTokens, dialect }: Pick<TranscriptBounds, "byTokens"> & { readonly dialect?: Dialect | undefined },
): unknown {
  const usage = visibleUsage(reported, dialect);
  if (isRecord(usage)) return usage;
  return byTokens
    ? { type: "tokens", input_tokens: input, output_tokens: output, total_tokens: input + output }
    : { type: "duration", seconds: audioMs / 1000 };
}

/**
 * In milliseconds: what is said to be charged, else how long the audio was, else where its last part ends. Silence may follow
 * that, so it counts for nothing beside a length that is known; and no part ends behind the longest audio.
 */
function readMs(
  { usage, duration, segments }: Readonly<Record<string, unknown>>,
  { isMeasured, audioMs }: TranscriptBounds,
): number | undefined {
  const said = isRecord(usage) ? (usage["seconds"] ?? usage["prompt_audio_seconds"]) : undefined;
  const length = toMs(said) ?? toMs(duration);
  if (length !== undefined || isMeasured) return length;
  const last: unknown = Array.isArray(segments) ? segments.at(-1) : undefined;
  const end = toMs(isRecord(last) ? last["end"] : undefined);
  return end === undefined || end > audioMs ? undefined : end;
}

/** Some servers write numbers as texts. Nothing has no length: what says so says nothing. */
export function toMs(seconds: unknown): number | undefined {
  const number = typeof seconds === "string" && seconds.trim() !== "" ? Number(seconds) : seconds;
  if (typeof number !== "number" || !(number > 0) || number * 1000 > largestCount) return undefined;
  // A decimal times a thousand may come out a little above.
  return Math.ceil(Number((number * 1000).toFixed(6)));
}
