import type { ModelResponse } from "../../prices/progress.js";
import { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";
import { memberOf } from "../../wire/json-members.js";
import type { Dialect } from "../shared/dialect.js";
import type { AttemptContext } from "../shared/exchange.js";
import { editResponse, type ReceivedResponse, ResponseEdits } from "../shared/received-response.js";
import { estimatedOutput } from "../shared/token-estimate.js";
import type { TranscriptFormat, TranscriptionRequest } from "./transcription-request.js";
import {
  type TranscriptBounds,
  type TranscriptUse,
  toMs,
  transcriptUsage,
  useOfTranscript,
} from "./use-of-transcript.js";

export type TranscriptContext = AttemptContext & TranscriptBounds;

const textType = "text/plain; charset=utf-8";

/** What decides which format an upstream is asked for. */
interface SentFormatFacts {
  readonly dialect: Dialect | undefined;
  readonly upstreamModel: string;
  /** Whether its price is for the time that was heard. */
  readonly isTimed: boolean;
}

/** Models of OpenAI that know no `verbose_json`. */
const briefModels = /(^|\/)gpt-[\w.-]*transcribe/i;

/**
 * What the upstream is asked for: the JSON that says what it cost, of which the rest is made. Only `verbose_json` says for sure
 * how long the audio was, and no reader of files does.
 */
export function sentFormat(request: TranscriptionRequest, facts: SentFormatFacts): TranscriptFormat {
  const { format, stream, members } = request;
  const { dialect, upstreamModel, isTimed } = facts;
  const knows = (name: TranscriptFormat) => name === "json" || (dialect?.transcriptFormats?.includes(name) ?? true);
  if (format === "srt" || format === "vtt") return knows("verbose_json") ? "verbose_json" : format;
  if (format !== "json" && format !== "text") return format;
  const isBrief =
    !isTimed || dialect?.timedTranscripts === "json" || briefModels.test(upstreamModel) || !knows("verbose_json");
  // Streams come in `json` alone, and so does what clients ask to be included.
  return isBrief || stream || memberOf(members, "include") !== undefined ? "json" : "verbose_json";
}

/** A transcript's format, as the upstream was asked for it and as the client wants it. */
interface AskedTranscript {
  readonly asked: TranscriptFormat;
  readonly wanted: TranscriptFormat;
}

/** What `verbose_json` has beside `json`. */
const verboseNames = ["task", "language", "duration", "segments", "words"];

/** Those of a day, and more than any file that may be uploaded has. An answer of more is none. */
const mostSegments = 32_768;

/**
 * Turns an upstream's transcript into the client's: in the format that it wants, with all that clients require, and with usage.
 *
 * @returns `undefined` when it is none.
 */
export function toTranscriptResponse(
  received: ReceivedResponse,
  { asked, wanted: format }: AskedTranscript,
  context: TranscriptContext,
): ModelResponse | undefined {
  const { json } = received;
  if (!isRecord(json) || typeof json["text"] !== "string") return undefined;
  const { text, segments } = json;
  if (Array.isArray(segments) && segments.length > mostSegments) return undefined;
  const sample = new TextSample();
  sample.addText(text);
  const use = useOfTranscript(json, context, estimatedOutput(context, sample));
  const answer = { tokens: use.used, estimated: use.estimated, responseId: undefined, finishReason: undefined };
  if (format === "text") return { ...answer, body: `${text}\n`, contentType: textType };
  if (format === "srt" || format === "vtt") {
    const whole = [{ start: 0, end: use.used.audioMs === undefined ? 0 : use.used.audioMs / 1000, text }];
    const hasSegments = Array.isArray(segments) && (segments.length > 0 || text === "");
    const body = subtitles(format, hasSegments ? segments : whole);
    return { ...answer, body, contentType: textType };
  }
  const edits = new ResponseEdits();
  if (json["error"] === null) edits.set("error", null);
  if (format === "json" && asked === "verbose_json") {
    for (const name of verboseNames) if (json[name] !== undefined) edits.set(name, null);
  } else if (format === "verbose_json" || format === "json") {
    // Some servers send the same for both.
    repair(json, edits, { use, isVerbose: format === "verbose_json" });
  }
  const usage = transcriptUsage(json["usage"], use.used, context);
  if (usage !== json["usage"]) edits.set("usage", JSON.stringify(usage));
  return { ...answer, body: editResponse(received, edits) };
}

/** A transcript in a format that says nothing of what it cost. */
export function unreadTranscript(body: Uint8Array, context: TranscriptContext): ModelResponse {
  const sample = new TextSample();
  sample.addBytes(body, 0, body.length);
  const { used } = useOfTranscript({}, context, estimatedOutput(context, sample));
  return { body, contentType: textType, tokens: used, estimated: true, responseId: undefined, finishReason: undefined };
}

const numbers = ["id", "seek", "start", "end", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob"];

interface Repair {
  readonly use: TranscriptUse;
  /** Whether clients require a duration and a language. */
  readonly isVerbose: boolean;
}

/** Some clients refuse segments that lack a number, and durations that are texts. */
function repair(
  json: Readonly<Record<string, unknown>>,
  edits: ResponseEdits,
  { use: { used }, isVerbose }: Repair,
): void {
  const { duration, segments } = json;
  const isRequired = (value: unknown) => isVerbose || (value !== undefined && value !== null);
  if (typeof duration !== "number" && isRequired(duration))
    edits.set("duration", String((toMs(duration) ?? used.audioMs ?? 0) / 1000));
  if (typeof json["language"] !== "string" && isRequired(json["language"])) edits.set("language", JSON.stringify(""));
  if (!Array.isArray(segments) || segments.every(isWhole)) return;
  const whole = segments.filter(isRecord).map((segment, place) => {
    const missing = numbers.filter((name) => typeof segment[name] !== "number");
    const tokens = Array.isArray(segment["tokens"]) ? segment["tokens"] : [];
    const text = typeof segment["text"] === "string" ? segment["text"] : "";
    const given = Object.fromEntries(missing.map((name) => [name, name === "id" ? place : numberOf(segment[name])]));
    return { ...segment, ...given, tokens, text };
  });
  edits.set("segments", JSON.stringify(whole));
}

/** JSON knows no infinite number. */
function numberOf(value: unknown): number {
  const number = Number(value);
  return Number.isFinite(number) ? number : 0;
}

function isWhole(segment: unknown): boolean {
  return (
    isRecord(segment) &&
    numbers.every((name) => typeof segment[name] === "number") &&
    Array.isArray(segment["tokens"]) &&
    typeof segment["text"] === "string"
  );
}

/** A transcript as subtitles, in the words of SubRip or of WebVTT. @param segments - `start`, `end` and `text` of each. */
function subtitles(format: "srt" | "vtt", segments: readonly unknown[]): string {
  const mark = format === "srt" ? "," : ".";
  const cues = segments.filter(isRecord).map(({ start, end, text }, place) => {
    const times = `${timeOf(start, mark)} --> ${timeOf(end, mark)}`;
    const line = `${times}\n${String(text ?? "")
      .trim()
      .replaceAll("-->", "->")}\n\n`;
    return format === "srt" ? `${place + 1}\n${line}` : line;
  });
  return format === "srt" ? cues.join("") : `WEBVTT\n\n${cues.join("")}`;
}

function timeOf(seconds: unknown, mark: string): string {
  const ms = Math.max(0, Math.round(Number(seconds) * 1000) || 0);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const rest = String(ms % 1000).padStart(3, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${mark}${rest}`;
}
