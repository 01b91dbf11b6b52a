import { fromPreset, type PresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/**
 * vLLM, by default at `http://127.0.0.1:8000/v1`. Most chat templates know no `developer`, so it goes as `system`.
 *
 * @throws TypeError when an option is not valid.
 */
export function vLLM(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "vLLM",
      baseURL: "http://127.0.0.1:8000/v1",
      dialect: { capName: "max_tokens", developerRole: "system" },
    },
    options,
  );
}
