import { fromPreset, type PresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/**
 * OpenAI itself, by default at `https://api.openai.com/v1`. A cap of a chat completion always goes as
 * `max_completion_tokens`: models that reason know no other, and all the others know it, too. Requests of the Responses API
 * go to OpenAI's own, with `store: false`: nothing is kept under your account there.
 *
 * @throws TypeError when an option is not valid.
 */
export function openAI(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "openAI",
      baseURL: "https://api.openai.com/v1",
      operations: [
        "chat/completions",
        "embeddings",
        "responses",
        "completions",
        "moderations",
        "images/generations",
        "images/edits",
        "audio/speech",
        "audio/transcriptions",
        "audio/translations",
      ],
      dialect: { capName: "max_completion_tokens", imageFormat: "b64_json", speechEvents: true },
    },
    options,
  );
}
