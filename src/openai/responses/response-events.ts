import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";

/** An event of a streamed response (OpenAI reference, "Streaming events"). */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [name: string]: unknown;
}

/** The events as server-sent ones, each under its name. */
export function frameEvents(events: readonly ResponseEvent[]): Buffer {
  return Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}

/**
 * What keeps a silent stream open. A comment would not do: Codex goes by events alone when it waits for a stream.
 * @param sequenceNumber - its place among the events.
 */
export function keepAliveEvent(sequenceNumber: number): ResponseEvent {
  return { type: "keepalive", sequence_number: sequenceNumber };
}

/** What keeps a stream open that has not begun: some clients take no event before `response.created`. */
export const keepAliveComment: Uint8Array = Buffer.from(": keep-alive\n\n");

/** The `error` of a failed response. */
export interface ResponseError {
  readonly code: string;
  readonly message: string;
}

/** The words of this API for an error: some clients decide by them whether they try again. */
export function toResponseError({ code, type, status, message }: GatewayError): ResponseError {
  if (code === "context_length_exceeded") return { code, message };
  if (type === "insufficient_quota") return { code: "insufficient_quota", message };
  if (status === 429) return { code: "rate_limit_exceeded", message };
  return { code: status >= 400 && status < 500 ? "invalid_prompt" : "server_error", message };
}

/**
 * The end of a stream that failed. It takes two events: each of them alone is a success, or nothing at all, to some client.
 * The first says the same twice for the same reason.
 *
 * @param response - as far as it came.
 * @param sequenceNumber - the next one.
 */
export function failureEvents(
  error: GatewayError,
  response: Readonly<Record<string, unknown>>,
  sequenceNumber: number,
): ResponseEvent[] {
  const { code, message } = toResponseError(error);
  const { type, param } = error;
  return [
    {
      type: "error",
      sequence_number: sequenceNumber,
      code,
      message,
      param,
      error: { type, code, message, param },
    },
    {
      type: "response.failed",
      sequence_number: sequenceNumber + 1,
      // One that failed is not kept.
      response: { ...response, status: "failed", error: { code, message }, store: false },
    },
  ];
}
