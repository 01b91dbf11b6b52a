/** Why a message ended, as clients of chat completions read it. */
export function finishReasonOf(stopReason: unknown, hasCalls: boolean): string {
  switch (stopReason) {
    case "tool_use":
      return "tool_calls";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "refusal":
      return "content_filter";
    default:
      return hasCalls ? "tool_calls" : "stop";
  }
}
