import type { UpstreamErrorAnswer } from "../model-api/dialect.js";
import { isRecord } from "../wire/is-record.js";
import { fromPreset, type PresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

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

/**
 * Which status its versions give to a prompt that is too long, and in which words, varies; the type does not. Texts to embed
 * or to rank are a failure of the server to it when they are longer than one batch.
 */
function readError({ status, body }: UpstreamErrorAnswer): UpstreamErrorAnswer {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const isTooLong =
    error["type"] === "exceed_context_size_error" ||
    (typeof error["message"] === "string" && /^input \(\d+ tokens\) is too large to process/.test(error["message"]));
  if (!isTooLong) return { status, body };
  return { status: 400, body: { error: { ...error, type: "invalid_request_error", code: "context_length_exceeded" } } };
}
