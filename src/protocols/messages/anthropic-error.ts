import type { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import { isFinalRefusal } from "../../errors/refusal.js";
import { UpstreamStatusError } from "../../errors/upstream-fault.js";
import { isRecord } from "../../wire/is-record.js";
import type { UpstreamErrorResponse } from "../shared/dialect.js";
import { toClientError, type UpstreamFailureContext } from "../shared/upstream-failure.js";
import { messagesEvent } from "./message-to-events.js";

/** The types of errors by status (Anthropic reference, "Errors"). */
const types: ReadonlyMap<number, string> = new Map([
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [409, "conflict_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [500, "api_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

/** The status of an upstream that has no room for a request. */
const overloaded = 529;

/**
 * The body of an error answer in Anthropic's shape. The gateway's own code stands beside the type: what a client does not
 * know it skips.
 */
export function anthropicErrorBody(error: GatewayError, requestId: string): string {
  return withRequestId(anthropicError(error), requestId);
}

/** The same without the request's id. */
export function anthropicError(error: GatewayError): string {
  const { code, details } = error;
  return JSON.stringify({
    type: "error",
    error: { type: errorType(error), message: errorWords(error), code, ...(details && { details }) },
  });
}

/** @param body - {@link anthropicError}'s. */
export function withRequestId(body: string, requestId: string): string {
  return `${body.slice(0, -1)},"request_id":${JSON.stringify(requestId)}}`;
}

/**
 * The headers of an error answer: the error's own, and those that Anthropic's clients read. Some of them repeat whatever was
 * refused, a wrong key included, unless a header tells them not to.
 */
export function anthropicErrorHeaders({ status, headers }: GatewayError): Record<string, string> {
  return { ...(isFinalRefusal(status) ? { "x-should-retry": "false" } : undefined), ...headers };
}

/** The body as an event, for a stream that has begun. Nothing may follow it. */
export function anthropicErrorEvent(error: GatewayError, requestId: string): Buffer {
  return messagesEvent("error", anthropicErrorBody(error, requestId));
}

function errorType({ status, cause }: GatewayError): string {
  if (status === 502 && cause instanceof UpstreamStatusError && cause.status === overloaded) return "overloaded_error";
  return types.get(status) ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** The longest path of a member that stands before a message. */
const longestPath = 200;

/** The message as Anthropic puts it: behind the path of the member at fault, and with its words for a prompt that is too long. */
function errorWords({ status, code, param, message }: GatewayError): string {
  if (code === "context_length_exceeded") return tooLongWords(message);
  if (status !== 400 || param === null) return message;
  const path = dottedPath(param);
  if (code === "missing_required_parameter") return `${path}: Field required`;
  if (message.startsWith(`${path}: `)) return message;
  const expected = /^Invalid type for '[^']*': expected (.+)\.$/.exec(message)?.[1];
  return `${path}: ${expected === undefined ? message : `Input should be ${expected}`}`;
}

/** `messages[0].content[1]` is `messages.0.content.1`. */
function dottedPath(path: string): string {
  return path.replace(/\[(\d+)\]/g, ".$1").slice(0, longestPath);
}

const ownWords = /prompt is too long\b|input length and `max_tokens` exceed context limit/;

/** Clients of Anthropic's shorten the conversation, or ask for less, when they read these words and numbers. */
function tooLongWords(message: string): string {
  const own = ownWords.exec(message);
  if (own !== null) return message.slice(own.index);
  const most = /(?:maximum context length|context (?:window|length|size)) (?:is|of) (\d+)/i.exec(message)?.[1];
  if (most === undefined) return `prompt is too long: ${message}`;
  const parts = /\((\d+) in the messages, (\d+) in the completion\)/i.exec(message);
  if (parts !== null) {
    const [, prompt, answer] = parts;
    if (Number(prompt) <= Number(most)) {
      return (
        `input length and \`max_tokens\` exceed context limit: ${prompt} + ${answer} > ${most}, ` +
        "decrease input length or `max_tokens` and try again"
      );
    }
    return `prompt is too long: ${prompt} tokens > ${most} maximum`;
  }
  const prompt = /(?:resulted in|requested|has|have|of) (\d+) (?:input |prompt )?tokens(?! and)/i.exec(
    message.replace(/^.*?maximum context length is \d+ tokens/i, ""),
  )?.[1];
  return prompt !== undefined && Number(prompt) > Number(most)
    ? `prompt is too long: ${prompt} tokens > ${most} maximum`
    : `prompt is too long: at least ${Number(most) + 1} tokens > ${most} maximum`;
}

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
function readAnthropicError({ status, body }: UpstreamErrorResponse): UpstreamErrorResponse {
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
