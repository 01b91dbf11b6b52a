import { isRecord } from "../../wire/is-record.js";

/** The state of the tool calls of one streamed choice. */
export interface ToolCallState {
  /** The indexes of calls that have begun. */
  toolCalls: Set<number>;
  lastToolCall: number;
}

/**
 * Adds the members that clients require to the first delta of each tool call: `index`, `id`, `type`,
 * `function.arguments`. Changes the parsed deltas in place.
 *
 * @returns whether anything was changed.
 */
export function repairToolCallDeltas(deltas: unknown, state: ToolCallState): boolean {
  if (!Array.isArray(deltas)) return false;
  let repaired = false;
  for (const delta of deltas) {
    if (!isRecord(delta)) continue;
    if (!Number.isInteger(delta["index"])) {
      // Servers that omit the index send each call whole. So a new id means a new call.
      delta["index"] = isText(delta["id"]) ? state.toolCalls.size : state.lastToolCall;
      repaired = true;
    }
    const index = delta["index"] as number;
    state.lastToolCall = index;
    if (state.toolCalls.has(index)) continue;
    state.toolCalls.add(index);
    if (repairFirst(delta)) repaired = true;
  }
  return repaired;
}

function repairFirst(delta: Record<string, unknown>): boolean {
  let repaired = false;
  if (!isText(delta["id"])) {
    delta["id"] = `call_${crypto.randomUUID().replaceAll("-", "")}`;
    repaired = true;
  }
  if (!isText(delta["type"])) {
    delta["type"] = "function";
    repaired = true;
  }
  if (delta["type"] !== "function") return repaired;
  if (!isRecord(delta["function"])) {
    delta["function"] = { name: "", arguments: "" };
    return true;
  }
  if (typeof delta["function"]["arguments"] !== "string") {
    delta["function"]["arguments"] = "";
    repaired = true;
  }
  return repaired;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
