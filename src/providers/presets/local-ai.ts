import { fromPreset, type PresetOptions } from "../preset.js";
import type { UpstreamProvider } from "../upstream-provider.js";

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
