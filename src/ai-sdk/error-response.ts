import { isGatewayError } from "../errors/gateway-error.js";
import { beyondTarget } from "../errors/refusal.js";
import { toFetchError } from "../providers/transport/transport-error.js";
import { isUpstreamError, UpstreamError } from "../providers/upstream-provider.js";
import { redact } from "../redaction/redact.js";
import { isRecord } from "../wire/is-record.js";

/** An error response in OpenAI's format. */
export interface ErrorResponse {
  /** `undefined`: the failure has none. */
  status: number | undefined;
  headers: Record<string, string>;
  error: Record<string, unknown>;
}

/** Anthropic's and Google's texts for a request that is too long for the model: they have no code of their own for it. */
const tooLong = /prompt is too long|input is too long|exceeds the maximum number of (input )?tokens/i;

/** No error says more, in characters. */
const longestBody = 65_536;

/** The AI SDK's errors for what a model cannot do, which it finds before any call. */
const refusals = new Set([
  "AI_UnsupportedFunctionalityError",
  "AI_InvalidPromptError",
  "AI_InvalidArgumentError",
  "AI_TooManyEmbeddingValuesForCallError",
]);

/**
 * The response of the model's server that the AI SDK has made an error of; within a stream, also one without a status.
 */
export function toErrorResponse(error: unknown): ErrorResponse {
  const record: Record<string, unknown> = isObject(error) ? error : { message: error };
  const inner = innerError(record);
  const message = [record["message"], inner["message"]].find((text) => typeof text === "string") ?? "";
  const isTooLong = tooLong.test(String(message));
  const status = isTooLong ? 400 : [record["statusCode"], inner["status"], inner["code"]].find(isErrorStatus);
  return {
    status,
    headers: retryHeaders(record["responseHeaders"]),
    error: {
      message,
      type: firstText(inner["type"], inner["status"]) ?? "",
      param: firstText(inner["param"]) ?? null,
      code: isTooLong ? "context_length_exceeded" : (firstText(inner["code"], ownCode(inner)) ?? null),
    },
  };
}

/** The same within a stream, where the status is one of the error's own members. */
export function toErrorEvent({ status, error }: ErrorResponse): string {
  return `data: ${JSON.stringify({ error: { ...error, status } })}\n\n`;
}

/**
 * What a model's failure is to the gateway: an error response, where its server sent one.
 * @param model - the upstream's name for the model.
 * @throws UpstreamError when there is no response. A GatewayError is a response already, and thrown on; the AI SDK's
 * own refusals become one.
 */
export function answerOf(error: unknown, model: string): ErrorResponse {
  if (isUpstreamError(error) || isGatewayError(error)) throw error;
  if (!isObject(error)) throw new UpstreamError("unreachable", "The model failed.", { cause: error });
  const name = String(error["name"]);
  const message = String(error["message"]);
  if (refusals.has(name)) {
    // Only the host may see the upstream's name for the model.
    const masked = redact(message, { upstreamModel: model, model: "the model" });
    throw beyondTarget(null, masked, "unsupported_value");
  }
  if (name !== "AI_APICallError") {
    // Includes the AI SDK's own errors: a missing key, a malformed response.
    const failure = isConnectionError(error) ? toFetchError(error, "interrupted") : undefined;
    throw failure ?? new UpstreamError("unreachable", `The model failed: ${message}`, { cause: error });
  }
  const { statusCode } = error;
  if (typeof statusCode !== "number") throw toFetchError(error, "unreachable");
  if (statusCode < 400)
    throw new UpstreamError("interrupted", `The model's answer is none: ${message}`, { cause: error });
  return toErrorResponse(error);
}

/** The error of a response that the model itself ends as a failed one. */
export function modelEndedInError(): UpstreamError {
  return new UpstreamError("interrupted", "The model ended its answer with an error.");
}

/** `fetch` and its bodies reject with a TypeError, as bugs do; what lies under them has a code. */
function isConnectionError(error: Record<string, unknown>): boolean {
  if (typeof error["code"] === "string") return true;
  return error instanceof TypeError && /fetch|network|terminated|socket|connection/i.test(error.message);
}

/** Where servers put it: OpenAI, Anthropic and Google in `error`, others at the top. */
function innerError(error: Record<string, unknown>): Record<string, unknown> {
  const data = receivedBody(error["responseBody"]) ?? (isRecord(error["data"]) ? error["data"] : error);
  return isRecord(data["error"]) ? data["error"] : data;
}

/** The SDK's packages keep of a body only what they know. */
function receivedBody(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== "string" || text.length > longestBody || !text.startsWith("{")) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Anthropic's, which its types do not tell. */
function ownCode({ details }: Record<string, unknown>): unknown {
  return isRecord(details) ? details["error_code"] : undefined;
}

function retryHeaders(headers: unknown): Record<string, string> {
  const kept: Record<string, string> = {};
  if (!isRecord(headers)) return kept;
  for (const name of ["retry-after", "retry-after-ms"]) {
    const value = headers[name];
    if (typeof value === "string") kept[name] = value;
  }
  return kept;
}

function isErrorStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) < 600;
}

function firstText(...values: unknown[]): string | undefined {
  for (const value of values) if (typeof value === "string" && value !== "") return value;
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
