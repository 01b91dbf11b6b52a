import { askedTooMuch } from "../../errors/refusal.js";
import type { UsageCounts } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";

/** The most tool calls in one answer, in all protocols, whole and streamed: far more than any model makes unasked. */
export const mostToolCalls = 1024;

/** The most blocks of a message, or items of a response's output, tool calls among them. */
export const mostResponseParts = 16_384;

/** What the upstream reports as used for an answer; read when there is too much of it. */
type UsedReader = () => UsageCounts | undefined;

const nothingReported: UsedReader = () => undefined;

/**
 * Bounds the calls of an answer. A prompt can ask a model for any number of them, so whoever asks pays for them.
 * @throws GatewayError 400
 */
export function requireFewCalls(calls: number, used = nothingReported): void {
  if (calls > mostToolCalls) throw askedTooMuch(`Its answer has over ${mostToolCalls} tool calls.`, used());
}

/** The same for the blocks of a message, or the items of an output. @throws GatewayError 400 */
export function requireFewParts(parts: readonly unknown[], used = nothingReported): void {
  if (parts.length <= mostToolCalls) return;
  requireFew(parts.length, used);
  let calls = 0;
  for (const part of parts) if (isRecord(part) && isCallType(part["type"])) calls++;
  requireFewCalls(calls, used);
}

function requireFew(parts: number, used: UsedReader): void {
  if (parts > mostResponseParts)
    throw askedTooMuch(`Its answer has over ${mostResponseParts} blocks or items.`, used());
}

/** Whether it is the type of a block or an item by which a model calls a tool. */
function isCallType(type: unknown): boolean {
  return typeof type === "string" && (type === "tool_use" || type.endsWith("_call"));
}

/** Counts the parts of an answer that comes in a stream. */
export class PartCount {
  #parts = 0;
  #calls = 0;

  /** @throws GatewayError 400 where there are too many with this one. */
  add(type: unknown): void {
    if (isCallType(type)) requireFewCalls(++this.#calls);
    requireFew(++this.#parts, nothingReported);
  }
}

/** Why a refused answer ended, in the words of `finishReason` in events. */
export const refusedFinish = "content_filter";
