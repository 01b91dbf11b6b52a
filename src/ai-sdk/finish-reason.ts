import { isRecord } from "../wire/is-record.js";

/** Why an answer ended, in OpenAI's words. `incomplete`: the model never said; `error`: it failed. */
export type FinishReason = { finishReason: string } | "incomplete" | "error";

const reasons: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

/** v2 has a word for the reason, later ones a word and what the model's server had said. */
export function toFinishReason(reason: unknown, hasToolCalls: boolean): FinishReason {
  const unified = isRecord(reason) ? reason["unified"] : reason;
  const raw = isRecord(reason) ? reason["raw"] : undefined;
  if (unified === "error") return "error";
  const known = typeof unified === "string" ? reasons[unified] : undefined;
  if (known !== undefined) return { finishReason: known === "stop" && hasToolCalls ? "tool_calls" : known };
  // Where a stream was cut off, providers still send an end, of a reason that nobody gave.
  const isGiven = typeof raw === "string" && raw !== "";
  return isGiven && unified !== "interrupted" ? { finishReason: "stop" } : "incomplete";
}
