import type { UpstreamErrorAnswer } from "../model-api/dialect.js";
import { isRecord } from "../wire/is-record.js";
import { fromPreset, type PresetOptions } from "./preset.js";
import type { UpstreamProvider } from "./upstream-provider.js";

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
        readError,
      },
    },
    options,
  );
}

/** https://openrouter.ai/docs/api/reference/errors-and-debugging */
function readError({ status, body }: UpstreamErrorAnswer): UpstreamErrorAnswer {
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

function refused(message: unknown, code: string): UpstreamErrorAnswer {
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
