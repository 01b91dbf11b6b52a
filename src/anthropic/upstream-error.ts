import type { GatewayError } from "../errors/gateway-error.js";
import type { UpstreamErrorAnswer } from "../model-api/dialect.js";
import { toClientError, type UpstreamFailureContext } from "../model-api/failure/upstream-failure.js";
import { isRecord } from "../wire/is-record.js";

/** The statuses of the types of errors (Anthropic reference, "Errors"), for those that come inside a stream. */
const statuses: ReadonlyMap<unknown, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["conflict_error", 409],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["api_error", 500],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

/**
 * The client's view of an error answer of a server that speaks Messages: judged, and kept free of what must not get out, as
 * one of a server that speaks chat completions.
 *
 * @param said - the parsed JSON of the answer, or `undefined` when it was none.
 */
export function fromAnthropicError(
  status: number,
  headers: Readonly<Record<string, string>>,
  said: unknown,
  context: UpstreamFailureContext,
): GatewayError {
  const answer = readAnthropicError({ status, body: said });
  return toClientError(answer.status, headers, answer.body, context);
}

/** The same for the data of an `error` event, or an error inside a 200. */
export function fromAnthropicErrorEvent(said: unknown, context: UpstreamFailureContext): GatewayError {
  return fromAnthropicError(statusOfType(errorIn(said)), {}, said, context);
}

/** The error in OpenAI's words, where its type alone does not tell what it is. */
function readAnthropicError({ status, body }: UpstreamErrorAnswer): UpstreamErrorAnswer {
  const error = errorIn(body);
  const { message } = error;
  if (typeof message !== "string") return { status, body };
  const param = pathBefore(message);
  if (isTooLong(message)) return { status, body: { error: { ...error, code: "context_length_exceeded", param } } };
  return { status, body: { error: { ...error, param } } };
}

function errorIn(body: unknown): Record<string, unknown> {
  const error = isRecord(body) ? (body["error"] ?? body) : body;
  return isRecord(error) ? error : {};
}

function statusOfType({ type }: Record<string, unknown>): number {
  return statuses.get(type) ?? 500;
}

function isTooLong(message: string): boolean {
  return /prompt is too long|exceed context limit|input is too long/i.test(message);
}

/** `messages.0.content.1: …` is about `messages[0].content[1]`. */
function pathBefore(message: string): string | null {
  const path = /^([a-z_]+(?:\.[A-Za-z0-9_]+)*): /.exec(message)?.[1];
  return path === undefined ? null : path.replace(/\.(\d+)(?=\.|$)/g, "[$1]");
}
