import { invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { editMembers, type MemberEdits, memberOf } from "../../wire/json-members.js";
import { mayBeWav, plainWavSeconds, startOfWav, statedSeconds, wavHeadBytes } from "../shared/audio-seconds.js";
import {
  type FormFile,
  type FormNames,
  type FormRequest,
  readFormRequest,
  withFields,
} from "../shared/form-request.js";
import { type DecimalBounds, readField, readFlag, requireDecimal, requireField } from "../shared/form-values.js";
import { ProtocolTable, type Row, words } from "../shared/protocol-table.js";
import { RequestNames } from "../shared/request-names.js";

/** What forms with audio may hold, at OpenAI and at the servers that speak its API. */
function rowsWith(further: string): Row[] {
  return [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model file prompt response_format temperature language hotwords vad_filter seed top_p top_k min_p
        frequency_penalty presence_penalty repetition_penalty user metadata safety_identifier temperature_inc word_thold
        entropy_thold logprob_thold no_speech_thold ${further}`),
    },
    {
      place: "member",
      treatment: "refused",
      names: words("n beam_size max_completion_tokens max_tokens to_language"),
      why: "asks for more than the audio in one language, or limits it under another name",
      advice: "Leave it out.",
    },
    {
      place: "member",
      treatment: "refused",
      names: words(`
        offset_t offset_n duration max_context max_len audio_ctx debug_mode vad vad_threshold vad_min_speech_duration_ms vad_min_silence_duration_ms
        vad_max_speech_duration_s vad_speech_pad_ms vad_samples_overlap`),
      why: "is a setting of the server itself, which may fail by it",
      advice: "Leave it out.",
    },
    {
      place: "member",
      treatment: "refused",
      names: words("url file_url audio_url file_id"),
      why: "names a file that the gateway cannot see",
      advice: "Send 'file'.",
    },
  ];
}

const about = (api: string) => ({
  reference: `OpenAI, "${api}" (openai 7.59.0), vLLM, Speaches and whisper.cpp 1.8.5`,
  date: "2026-11-29",
  own: [],
});

const ofTranscriptions = `stream timestamp_granularities include chunking_strategy languages keywords known_speaker_names
  known_speaker_references vad_config`;

export const transcriptionsTable = new ProtocolTable(
  { protocol: "audio/transcriptions", ...about("Create transcription") },
  rowsWith(ofTranscriptions),
);

export const translationsTable = new ProtocolTable(
  { protocol: "audio/translations", ...about("Create translation") },
  rowsWith(""),
);

/** The fields of a form with audio that the gateway reads (OpenAI reference, "Create transcription"). */
export interface TranscriptionRequest extends FormRequest {
  readonly model: string;
  readonly stream: boolean;
  /** What its client gets. */
  readonly format: TranscriptFormat;
  readonly audio: UploadedAudio;
  /** Of samples of speakers, at the most. */
  readonly speakerSeconds: number;
  /** Of the `prompt`, at the most. */
  readonly promptTokens: number;
}

const transcriptFormats = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"] as const;
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

/** Settings of whisper.cpp, which say when it reads a segment again. */
const threshold = { least: -100, most: 100 };

const decimals: ReadonlyMap<string, DecimalBounds> = new Map<string, DecimalBounds>([
  // OpenAI takes 1 at the most, others more.
  ["temperature", { least: 0, most: 2 }],
  // whisper.cpp reads a segment once for each step up to 1. It never ends where a step is too small to count.
  ["temperature_inc", { least: 0, most: 2, smallest: 0.1 }],
  ["word_thold", threshold],
  ["entropy_thold", threshold],
  ["logprob_thold", threshold],
  ["no_speech_thold", threshold],
]);

/** @throws GatewayError 400 */
export async function parseTranscription(
  pieces: readonly Uint8Array[],
  contentType: string | undefined,
): Promise<TranscriptionRequest> {
  const form = await readFormRequest(pieces, contentType, transcriptionForm);
  const [file] = form.files.all;
  if (file === undefined) throw missingParameter("file");
  return toTranscriptionRequest(form, new UploadedAudio(file));
}

/** The same request with other fields, as JSON. @throws GatewayError 400 */
export function transcriptionWith(json: Uint8Array, request: TranscriptionRequest): TranscriptionRequest {
  return toTranscriptionRequest(withFields(json, request.files, names), request.audio);
}

function toTranscriptionRequest(given: FormRequest, audio: UploadedAudio): TranscriptionRequest {
  const form = withoutEmpty(given);
  const model = requireField(form, "model");
  const format = readField(form, "response_format") ?? "json";
  if (!isFormat(format)) {
    throw invalidValue("response_format", `'response_format' must be one of ${transcriptFormats.join(", ")}.`);
  }
  for (const [name, bounds] of decimals) requireDecimal(form, name, bounds);
  const hasSpeakers = memberOf(form.members, "known_speaker_references") !== undefined;
  return {
    ...form,
    ...{ model, stream: readFlag(form, "stream"), format, audio },
    speakerSeconds: hasSpeakers ? mostSpeakerSeconds : 0,
    promptTokens: readPrompt(form) + keywordTokens(form),
  };
}

/** HTML forms send a field that nobody has filled in as an empty one, at which servers fail. */
function withoutEmpty(form: FormRequest): FormRequest {
  const empty = [...decimals.keys()].filter((name) => readField(form, name) === "");
  if (empty.length === 0) return form;
  const edits: MemberEdits = new Map(empty.map((name) => [name, null]));
  return withFields(editMembers(form.body, form.members, edits), form.files, names);
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

/** The audio of a form. Its samples are not looked at before something has to be known of them. */
class UploadedAudio {
  readonly bytes: number;
  /** What a WAV's head says; `undefined`: it is no plain WAV. */
  readonly statedSeconds: number | undefined;
  /** Let go of once it was measured. */
  #file: FormFile | undefined;
  #seconds: number | undefined;

  constructor(file: FormFile) {
    const { filename, type = "", content } = file;
    this.bytes = content.length;
    if (!mayBeWav(filename, type)) return;
    this.statedSeconds = statedSeconds(content.part(0, wavHeadBytes), content.length);
    if (this.statedSeconds !== undefined) this.#file = file;
  }

  /** How long it lasts. `undefined`: its bytes do not show it. */
  get seconds(): number | undefined {
    const content = this.#file?.content;
    this.#file = undefined;
    if (content !== undefined) this.#seconds = plainWavSeconds(content.part(0, startOfWav), content.length);
    return this.#seconds;
  }
}
