import { meaningOfEnd } from "../../model-api/answer/ends.js";

/** Why a message ended, as clients of chat completions read it. */
export function finishReasonOf(stopReason: unknown, hasCalls: boolean): string {
  const meaning = meaningOfEnd(stopReason) ?? "stop";
  return meaning === "stop" && hasCalls ? "tool_calls" : meaning;
}
