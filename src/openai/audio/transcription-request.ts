import { invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { type AudioLengths, fileLengths } from "../../model-api/media/lengths/file-lengths.js";
import { RequestNames } from "../../model-api/request/request-names.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { memberOf } from "../../wire/json-members.js";
import { bySize } from "../../wire/slices.js";
import { type FormNames, type FormRequest, readFormRequest, withFields } from "../form/form-request.js";
import { readField, readFlag, requireDecimal, requireField } from "../form/form-values.js";

/** The fields of a form with audio that the gateway reads (OpenAI reference, "Create transcription"). */
export interface TranscriptionRequest extends FormRequest {
  readonly model: string;
  readonly stream: boolean;
  /** What its client gets. */
  readonly format: TranscriptFormat;
  readonly lengths: AudioLengths;
  /** Of samples of speakers, at the most. */
  readonly speakerSeconds: number;
  readonly fileBytes: number;
  /** Of the `prompt`, at the most. */
  readonly promptTokens: number;
}

export const transcriptFormats = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"] as const;
export type TranscriptFormat = (typeof transcriptFormats)[number];

const names = new RequestNames({
  owned: ["model", "file", "prompt", "response_format", "stream", "known_speaker_references"],
});

const mostSpeakers = 4;

export const transcriptionForm: FormNames = {
  names,
  lists: new Map([
    ...["timestamp_granularities", "include", "languages", "keywords"].map((name) => [name, 64] as const),
    ["known_speaker_names", mostSpeakers],
    ["known_speaker_references", mostSpeakers],
  ]),
  files: new Map([["file", 1]]),
  // 32,000 characters, and samples of some seconds as data URLs.
  longest: new Map([
    ["prompt", 128 * 1024],
    ["known_speaker_references", 1024 * 1024],
  ]),
};

/** Samples of up to ten seconds each. */
const mostSpeakerSeconds = mostSpeakers * 10;
const marks = 16;

/** OpenAI takes 1 at the most, others more. */
const hottest = 2;

/** @throws GatewayError 400 */
export async function parseTranscription(
  pieces: readonly Uint8Array[],
  contentType: string | undefined,
): Promise<TranscriptionRequest> {
  const form = await readFormRequest(pieces, contentType, transcriptionForm);
  const [file] = form.files.all;
  if (file === undefined) throw missingParameter("file");
  const { content } = file;
  const lengths = await bySize(content.length, fileLengths(content));
  return toTranscriptionRequest(form, { fileBytes: content.length, lengths });
}

/** The same request with other fields, as JSON. @throws GatewayError 400 */
export function transcriptionWith(json: Uint8Array, request: TranscriptionRequest): TranscriptionRequest {
  return toTranscriptionRequest(withFields(json, request.files, names), request);
}

function toTranscriptionRequest(
  form: FormRequest,
  { fileBytes, lengths }: Pick<TranscriptionRequest, "fileBytes" | "lengths">,
): TranscriptionRequest {
  const model = requireField(form, "model");
  const format = readField(form, "response_format") ?? "json";
  if (!isFormat(format)) {
    throw invalidValue("response_format", `'response_format' must be one of ${transcriptFormats.join(", ")}.`);
  }
  requireDecimal(form, "temperature", hottest);
  const hasSpeakers = memberOf(form.members, "known_speaker_references") !== undefined;
  return {
    ...form,
    ...{ model, stream: readFlag(form, "stream"), format, fileBytes, lengths },
    speakerSeconds: hasSpeakers ? mostSpeakerSeconds : 0,
    promptTokens: readPrompt(form) + keywordTokens(form),
  };
}

/** Texts that models read beside the prompt, under the names that servers give them. */
const keywordNames = ["keywords", "hotwords", "known_speaker_names"];

function keywordTokens({ body, members }: FormRequest): number {
  const found = keywordNames.flatMap((name) => memberOf(members, name) ?? []);
  return found.reduce((sum, { start, end }) => sum + textTokens(body.subarray(start, end), true), 0);
}

function readPrompt({ body, members }: FormRequest): number {
  const prompt = memberOf(members, "prompt");
  if (prompt === undefined) return 0;
  if (body[prompt.start] !== 0x22) throw invalidType("prompt", "one field");
  return textTokens(body.subarray(prompt.start + 1, prompt.end - 1), true) + marks;
}

function isFormat(format: string): format is TranscriptFormat {
  return (transcriptFormats as readonly string[]).includes(format);
}
