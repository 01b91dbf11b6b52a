import type { UpstreamErrorResponse } from "../protocols/shared/dialect.js";
import { isRecord } from "../wire/is-record.js";
import { fromPreset, type PresetOptions } from "./preset.js";
import { defaultOperations, type UpstreamProvider } from "./upstream-provider.js";

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
        readError: readGroqError,
      },
    },
    options,
  );
}

function readGroqError({ status, body }: UpstreamErrorResponse): UpstreamErrorResponse {
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

/**
 * OpenRouter, by default at `https://openrouter.ai/api/v1`. What it bills you for a call, which it puts into `usage`,
 * does not reach clients.
 *
 * @throws TypeError when an option is not valid.
 */
export function openRouter(options: PresetOptions = {}): UpstreamProvider {
  return fromPreset(
    {
      name: "openRouter",
      baseURL: "https://openrouter.ai/api/v1",
      dialect: {
        capName: "max_tokens",
        developerRole: "system",
        hiddenUsage: ["cost", "cost_details", "is_byok"],
        readError: readOpenRouterError,
      },
    },
    options,
  );
}

/** https://openrouter.ai/docs/api/reference/errors-and-debugging */
function readOpenRouterError({ status, body }: UpstreamErrorResponse): UpstreamErrorResponse {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const metadata = isRecord(error["metadata"]) ? error["metadata"] : {};
  // The input was flagged: a 403 that is the client's, not that of our key.
  if (status === 403 && Array.isArray(metadata["reasons"]))
    return refused(error["message"], "content_policy_violation");
  // The model exists, but no provider serves it with what the request needs: tools, images, a parameter.
  if (status === 404 && /^No endpoints found that support/.test(String(error["message"]))) {
    return refused(error["message"], "unsupported_parameter");
  }
  // The error of the provider behind it.
  const raw = parseJson(metadata["raw"]);
  if (status === 400 && isRecord(raw)) return { status, body: raw };
  return { status, body };
}

function refused(message: unknown, code: string): UpstreamErrorResponse {
  return { status: 400, body: { error: { message, type: "invalid_request_error", param: null, code } } };
}

function parseJson(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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
