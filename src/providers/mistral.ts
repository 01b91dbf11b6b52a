import { fromPreset, type PresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/**
 * Mistral, by default at `https://api.mistral.ai/v1`. It refuses every member that it does not know with a 422, so
 * those of OpenAI's that it is known not to know are left out; `seed` goes as `random_seed`, and the `dimensions` of embeddings
 * as `output_dimension`.
 *
 * @throws TypeError when an option is not valid.
 */
export function mistral(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "mistral",
      baseURL: "https://api.mistral.ai/v1",
      dialect: {
        capName: "max_tokens",
        developerRole: "system",
        renamed: { seed: "random_seed", dimensions: "output_dimension" },
        // Usage comes with every stream, unasked.
        dropped: [
          "stream_options",
          "store",
          "user",
          "safety_identifier",
          "service_tier",
          "logit_bias",
          "logprobs",
          "top_logprobs",
          "functions",
          "function_call",
          "modalities",
          "audio",
          "verbosity",
          "web_search_options",
          "prompt_cache_key",
          "prompt_cache_retention",
        ],
        droppedFromMessages: [
          "name",
          "reasoning_content",
          "reasoning",
          "refusal",
          "annotations",
          "audio",
          "function_call",
        ],
      },
    },
    options,
  );
}
