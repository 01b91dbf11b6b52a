import { fromVersionedPreset, type Since, type VersionedPresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/** Its release notes, and https://docs.vllm.ai/en/stable/serving/online_serving/. */
const since: readonly Since[] = [
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
    since,
    options,
  );
}
