import { fromPreset, type PresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/**
 * Ollama, by default at `http://127.0.0.1:11434/v1`.
 *
 * @throws TypeError when an option is not valid.
 */
export function ollama(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "ollama",
      baseURL: "http://127.0.0.1:11434/v1",
      dialect: { capName: "max_tokens", developerRole: "system" },
    },
    options,
  );
}
