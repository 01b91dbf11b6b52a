import { badGateway, type GatewayError } from "../../errors/gateway-error.js";
import { UpstreamStatusError } from "../../errors/upstream-status-error.js";
import type { UsageCounts } from "../../metering/usage-counts.js";

/** What an end means, in OpenAI's words. `error`: the server has given up, and what it sent is no response. */
export type EndMeaning = "stop" | "tool_calls" | "length" | "content_filter" | "error";

/** What servers call the ends of their responses: in small letters, with `_`. Whatever stands nowhere here is a `stop`. */
const words: Readonly<Record<EndMeaning, readonly string[]>> = {
  stop: [
    "stop",
    "end_turn",
    "stop_sequence",
    "eos",
    "eos_token",
    "complete",
    "completed",
    "pause_turn",
    "compaction",
    "steered",
  ],
  tool_calls: ["tool_calls", "tool_call", "tool_use", "function_call"],
  length: [
    ...[
      "length",
      "max_tokens",
      "max_output_tokens",
      "max_length",
      "model_length",
      "token_limit",
      "error_limit",
      "max_messages",
    ],
    ...["model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded"],
  ],
  content_filter: [
    ...["content_filter", "content_filtered", "refusal", "safety", "sensitive", "guardrail_intervened", "error_toxic"],
    ...["recitation", "blocklist", "prohibited_content", "spii", "language", "model_armor"],
    ...["image_safety", "image_prohibited_content", "image_recitation"],
  ],
  error: [
    ...["error", "insufficient_system_resource", "network_error", "abort", "aborted", "cancelled", "timeout", "failed"],
    ...["malformed_function_call", "unexpected_tool_call", "malformed_tool_use", "malformed_model_output"],
    ...["malformed_response", "too_many_tool_calls", "missing_thought_signature", "server_error", "internal_error"],
  ],
};

const meanings: ReadonlyMap<string, EndMeaning> = new Map(
  Object.entries(words).flatMap(([meaning, names]) => names.map((name) => [name, meaning as EndMeaning] as const)),
);

/** @param reason - as a server of any API gives it. @returns `undefined` where it is not known. */
export function meaningOfEnd(reason: unknown): EndMeaning | undefined {
  if (typeof reason !== "string") return undefined;
  const known = meanings.get(reason);
  if (known !== undefined) return known;
  // Gemini's begin with what has found the fault, as in "function_call_filter: MALFORMED_FUNCTION_CALL".
  const [last = "", ...before] = reason
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_")
    .split(":_")
    .reverse();
  return meanings.get(last) ?? before.map((part) => meanings.get(part)).find((meaning) => meaning !== undefined);
}

/** Whether a choice has ended: some servers give an empty text, or `"null"`, until it has. */
export function isEnd(reason: unknown): reason is string {
  return typeof reason === "string" && reason !== "" && reason !== "null";
}

/**
 * @param used - what the server reports as used all the same.
 * @throws GatewayError for an end by which the server says that it has given up: another target may do it.
 */
export function requireNoFailure(reason: unknown, used?: UsageCounts): void {
  if (meaningOfEnd(reason) === "error") throw gaveUp(`its finish reason is '${reason}'`, used);
}

/** @param why - for the operator. */
export function gaveUp(why: string, used?: UsageCounts): GatewayError {
  const message = `The upstream gave up its answer: ${why}.`;
  return badGateway("The model did not answer. Try again.", { cause: new UpstreamStatusError(200, message, { used }) });
}
