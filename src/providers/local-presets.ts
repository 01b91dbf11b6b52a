import type { UpstreamErrorResponse } from "../protocols/shared/dialect.js";
import { isRecord } from "../wire/is-record.js";
import {
  fromPreset,
  fromVersionedPreset,
  type PresetOptions,
  type Since,
  type VersionedPresetOptions,
} from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/** https://docs.ollama.com/api/openai-compatibility and https://docs.ollama.com/api/anthropic-compatibility. */
const ollamaSince: readonly Since[] = [
  ["0.13.3", "responses"],
  ["0.14.0", "messages"],
];

/**
 * Ollama, by default at `http://127.0.0.1:11434/v1`. With `version`, clients of Responses (from 0.13.3 on) and Messages
 * (from 0.14.0 on) reach it in their own words.
 *
 * @throws TypeError when an option is not valid.
 */
export function ollama(options: VersionedPresetOptions = {}): UpstreamProvider {
  return fromVersionedPreset(
    {
      name: "ollama",
      baseURL: "http://127.0.0.1:11434/v1",
      dialect: { capName: "max_tokens", developerRole: "system" },
    },
    ollamaSince,
    options,
  );
}

/**
 * The server of llama.cpp (`llama-server`), by default at `http://127.0.0.1:8080/v1`.
 *
 * @throws TypeError when an option is not valid.
 */
export function llamaCpp(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "llamaCpp",
      baseURL: "http://127.0.0.1:8080/v1",
      operations: ["chat/completions", "embeddings", "completions", "rerank", "audio/transcriptions"],
      dialect: {
        capName: "max_tokens",
        developerRole: "system",
        usagePerChoice: true,
        transcriptFormats: [],
        // It takes both, and answers as if they were not there.
        restricted: { echo: "refuse", suffix: "refuse" },
        readError,
      },
    },
    options,
  );
}

/** What llama.cpp says, as failures of its own, of requests that no further attempt mends. */
const clientFault =
  /^(failed to parse (tools|messages): |unknown reasoning format: |cannot use both json_schema and grammar|(image|audio|video) input is not supported)/i;

const tooLong = /^input \(\d+ tokens\) is too large to process/;

/**
 * Which status its versions give to a prompt that is too long, and in which words, varies; the type does not. Texts to embed
 * or to rank are a failure of the server to it when they are longer than one batch.
 */
function readError({ status, body }: UpstreamErrorResponse): UpstreamErrorResponse {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const said = typeof error["message"] === "string" ? error["message"] : "";
  const type = "invalid_request_error";
  if (error["type"] === "exceed_context_size_error" || tooLong.test(said)) {
    return { status: 400, body: { error: { ...error, type, code: "context_length_exceeded" } } };
  }
  return clientFault.test(said) ? { status: 400, body: { error: { ...error, type } } } : { status, body };
}

/** vLLM's release notes, and https://docs.vllm.ai/en/stable/serving/online_serving/. */
const vllmSince: readonly Since[] = [
  ["0.10.0", "responses"],
  ["0.11.1", "messages"],
];

/**
 * vLLM, by default at `http://127.0.0.1:8000/v1`. Most chat templates know no `developer`, so it goes as `system`.
 * With `version`, clients of Responses (from 0.10.0 on) and Messages (from 0.11.1 on) reach it in their own words.
 *
 * @throws TypeError when an option is not valid.
 */
export function vLLM(options: VersionedPresetOptions = {}): UpstreamProvider {
  return fromVersionedPreset(
    {
      name: "vLLM",
      baseURL: "http://127.0.0.1:8000/v1",
      operations: [
        "chat/completions",
        "embeddings",
        "completions",
        "rerank",
        "audio/transcriptions",
        "audio/translations",
      ],
      dialect: {
        capName: "max_tokens",
        developerRole: "system",
        // Not all of its models know `verbose_json`.
        timedTranscripts: "json",
        // Its streams have usage only where that is asked for.
        transcriptStream: { fields: { stream_include_usage: "true" } },
      },
    },
    vllmSince,
    options,
  );
}

/**
 * LocalAI, by default at `http://127.0.0.1:8080/v1`. Most chat templates know no `developer`, so it goes as `system`.
 *
 * @throws TypeError when an option is not valid.
 */
export function localAI(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "localAI",
      baseURL: "http://127.0.0.1:8080/v1",
      operations: ["chat/completions", "embeddings", "completions", "moderations", "rerank", "images/generations"],
      dialect: { capName: "max_tokens", developerRole: "system", rerank: "jina" },
    },
    options,
  );
}
