import { fromVersionedPreset, type Since, type VersionedPresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/** https://docs.ollama.com/api/openai-compatibility and https://docs.ollama.com/api/anthropic-compatibility. */
const since: readonly Since[] = [
  ["0.13.3", "responses"],
  ["0.14.0", "messages"],
];

/**
 * Ollama, by default at `http://127.0.0.1:11434/v1`. With `version`, clients of Responses (from 0.13.3 on) and Messages
 * (from 0.14.0 on) reach it in their own words.
 *
 * @throws TypeError when an option is not valid.
 */
export function ollama(options: VersionedPresetOptions = {}): UpstreamProvider {
  return fromVersionedPreset(
    {
      name: "ollama",
      baseURL: "http://127.0.0.1:11434/v1",
      dialect: { capName: "max_tokens", developerRole: "system" },
    },
    since,
    options,
  );
}
