import type { Buffer } from "node:buffer";
import { isFinalRefusal } from "../errors/final-refusal.js";
import type { GatewayError } from "../errors/gateway-error.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import { errorWords } from "./error-words.js";
import { messagesEvent } from "./event-frame.js";

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
