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
      operations: ["chat/completions", "embeddings", "completions", "rerank"],
      dialect: { capName: "max_tokens", developerRole: "system", readError },
    },
    options,
  );
}

/** Which status its versions give to a prompt that is too long, and in which words, varies; the type does not. */
function readError({ status, body }: UpstreamErrorAnswer): UpstreamErrorAnswer {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  if (error["type"] !== "exceed_context_size_error") return { status, body };
  return { status: 400, body: { error: { ...error, type: "invalid_request_error", code: "context_length_exceeded" } } };
}
