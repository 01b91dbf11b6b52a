import { fromPreset, type PresetOptions } from "../preset.js";
import type { UpstreamProvider } from "../upstream-provider.js";

/**
 * Jina's embeddings and ranking of documents, by default at `https://api.jina.ai/v1`.
 *
 * @throws TypeError when an option is not valid.
 */
export function jina(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "jina",
      baseURL: "https://api.jina.ai/v1",
      operations: ["embeddings", "rerank"],
      dialect: { rerank: "jina" },
    },
    options,
  );
}
