import { isRecord } from "../../../wire/is-record.js";

/** Why a response ended, in the words of chat completions. @param response - one that has ended without an error. */
export function finishOfResponse(response: Record<string, unknown>): string {
  const { status, incomplete_details: details, output } = response;
  if (status === "incomplete") {
    return isRecord(details) && details["reason"] === "content_filter" ? "content_filter" : "length";
  }
  return Array.isArray(output) && output.some(isCallOfClient) ? "tool_calls" : "stop";
}

/** Calls of tools that the server runs itself have no `call_id`. */
function isCallOfClient(item: unknown): boolean {
  return isRecord(item) && typeof item["call_id"] === "string" && String(item["type"]).endsWith("_call");
}
