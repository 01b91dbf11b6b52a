import { ProtocolTable, type Row, words } from "../../model-api/tables/protocol-table.js";

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
