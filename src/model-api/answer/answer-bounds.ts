import { isRecord } from "../../wire/is-record.js";

/** The most tool calls in one answer, in all protocols, whole and streamed: far more than any model makes. */
export const mostToolCalls = 1024;

/** The most blocks of a message, or items of a response's output, tool calls among them. */
export const mostAnswerParts = 16_384;

/** Whether the blocks of a message, or the items of an output, are more than any model makes. */
export function hasTooManyParts(parts: readonly unknown[]): boolean {
  if (parts.length <= mostToolCalls) return false;
  if (parts.length > mostAnswerParts) return true;
  let calls = 0;
  for (const part of parts) if (isRecord(part) && isCallType(part["type"])) calls++;
  return calls > mostToolCalls;
}

/** Whether it is the type of a block or an item by which a model calls a tool. */
function isCallType(type: unknown): boolean {
  return typeof type === "string" && (type === "tool_use" || type.endsWith("_call"));
}

/** Counts the parts of an answer that comes in a stream. */
export class PartCount {
  #parts = 0;
  #calls = 0;

  /** @returns whether there are too many with this one. */
  isTooMany(type: unknown): boolean {
    if (isCallType(type)) this.#calls++;
    return ++this.#parts > mostAnswerParts || this.#calls > mostToolCalls;
  }
}
