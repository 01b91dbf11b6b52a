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

/** What it says, as failures of its own, of requests that no further attempt mends. */
const clientFault =
  /^(failed to parse (tools|messages): |unknown reasoning format: |cannot use both json_schema and grammar|(image|audio|video) input is not supported)/i;

const tooLong = /^input \(\d+ tokens\) is too large to process/;

/**
 * Which status its versions give to a prompt that is too long, and in which words, varies; the type does not. Texts to embed
 * or to rank are a failure of the server to it when they are longer than one batch.
 */
function readError({ status, body }: UpstreamErrorAnswer): UpstreamErrorAnswer {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const said = typeof error["message"] === "string" ? error["message"] : "";
  const type = "invalid_request_error";
  if (error["type"] === "exceed_context_size_error" || tooLong.test(said)) {
    return { status: 400, body: { error: { ...error, type, code: "context_length_exceeded" } } };
  }
  return clientFault.test(said) ? { status: 400, body: { error: { ...error, type } } } : { status, body };
}
