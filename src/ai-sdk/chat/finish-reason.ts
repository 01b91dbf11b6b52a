import { isEnd, meaningOfEnd } from "../../model-api/answer/ends.js";
import { isRecord } from "../../wire/is-record.js";

/** Why a response ended, with OpenAI's values. `incomplete`: the model gave no reason; `error`: it failed. */
export type FinishReason = { finishReason: string } | "incomplete" | "error";

const reasons: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

/** v2 has one value for the reason; later versions have one value, and the one of the model's server. */
export function toFinishReason(reason: unknown, hasToolCalls: boolean): FinishReason {
  const unified = isRecord(reason) ? reason["unified"] : reason;
  const raw = isRecord(reason) ? reason["raw"] : undefined;
  if (unified === "error") return "error";
  const known = typeof unified === "string" && Object.hasOwn(reasons, unified) ? reasons[unified] : undefined;
  if (known !== undefined) return { finishReason: known === "stop" && hasToolCalls ? "tool_calls" : known };
  // Where a stream was cut off, providers still send an end, with an empty reason.
  if (!isEnd(raw) || unified === "interrupted") return "incomplete";
  const meaning = meaningOfEnd(raw) ?? "stop";
  return meaning === "error" ? meaning : { finishReason: meaning };
}
