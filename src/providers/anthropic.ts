import { fromPreset, type PresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/** For calls that bring no version of their client's. */
const usualVersion = "2023-06-01";

/**
 * Anthropic, by default at `https://api.anthropic.com/v1`. It gets the requests of Messages clients byte for byte, but for
 * the model's name; those of chat completions clients are translated.
 *
 * @throws TypeError when an option is not valid.
 */
export function anthropic(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "anthropic",
      baseURL: "https://api.anthropic.com/v1",
      // Agents put what identifies the device and its user there: it is not for others to have.
      dialect: { keyHeader: "x-api-key", restricted: { metadata: "drop" } },
      operations: ["messages"],
    },
    { ...options, headers: { "anthropic-version": usualVersion, ...options.headers } },
  );
}
