import type { UpstreamErrorAnswer } from "../model-api/dialect.js";
import { isRecord } from "../wire/is-record.js";
import { fromPreset, type PresetOptions } from "./preset.js";
import { defaultOperations, type UpstreamProvider } from "./upstream-provider.js";

/**
 * Groq, by default at `https://api.groq.com/openai/v1`. Parameters and members of messages that it refuses with a 400 are
 * left out.
 *
 * @throws TypeError when an option is not valid.
 */
export function groq(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "groq",
      baseURL: "https://api.groq.com/openai/v1",
      operations: [...defaultOperations, "audio/speech", "audio/transcriptions", "audio/translations"],
      dialect: {
        capName: "max_completion_tokens",
        developerRole: "system",
        // https://console.groq.com/docs/openai, "Currently Unsupported OpenAI Features"
        dropped: ["logprobs", "top_logprobs", "logit_bias"],
        droppedFromMessages: ["name", "reasoning_content"],
        readError,
      },
    },
    options,
  );
}

function readError({ status, body }: UpstreamErrorAnswer): UpstreamErrorAnswer {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  // More tokens at once than the account may use in a minute: a wait does not mend it, a shorter request does.
  if (status === 413 && error["code"] === "rate_limit_exceeded") {
    const message = "The request is larger than the model takes at once. Shorten the messages or lower max_tokens.";
    const code = "request_too_large";
    return { status, body: { error: { message, type: "invalid_request_error", param: "messages", code } } };
  }
  // Its flex tier has no capacity left.
  if (status === 498) return { status: 429, body };
  return { status, body };
}
