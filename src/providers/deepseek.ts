import { fromPreset, type PresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/**
 * DeepSeek, by default at `https://api.deepseek.com/v1`. What it read from its cache is charged as cached input.
 *
 * @throws TypeError when an option is not valid.
 */
export function deepSeek(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "deepSeek",
      baseURL: "https://api.deepseek.com/v1",
      dialect: { capName: "max_tokens", developerRole: "system" },
    },
    options,
  );
}
