import { fromPreset, type PresetOptions } from "../preset.js";
import type { UpstreamProvider } from "../upstream-provider.js";

/**
 * Cohere's ranking of documents, by default at `https://api.cohere.com/v2`. For its chat models take `openAICompatible` with
 * `https://api.cohere.ai/compatibility/v1`.
 *
 * @throws TypeError when an option is not valid.
 */
export function cohere(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "cohere",
      baseURL: "https://api.cohere.com/v2",
      operations: ["rerank"],
      dialect: { rerank: "cohere" },
    },
    options,
  );
}
