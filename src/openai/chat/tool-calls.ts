import { isRecord } from "../../wire/is-record.js";

/** A call as it is written in a message, or a piece of one in a delta. */
export type CallJson = Record<string, unknown>;

/**
 * Completes the tool calls of a whole message, and makes texts of their arguments, in place.
 * @param idPrefix - ids that the server leaves out begin with it.
 * @returns whether anything was changed.
 */
export function repairToolCalls(message: Record<string, unknown>, idPrefix: string): boolean {
  const calls = message["tool_calls"];
  let repaired = repairText(message["function_call"], "arguments", "{}");
  if (!Array.isArray(calls)) return repaired;
  for (const [index, call] of calls.entries()) {
    if (!isRecord(call)) continue;
    if (repairTexts(call, "{}")) repaired = true;
    if (repairedCall(call, `${idPrefix}${index}`)) repaired = true;
  }
  return repaired;
}

/**
 * Adds the members that clients require: `type`, and an `id` where the server has none.
 * @returns whether anything was changed.
 */
export function repairedCall(call: CallJson, ownId: string): boolean {
  let repaired = false;
  if (!isCallText(call["id"])) {
    call["id"] = typeof call["id"] === "number" ? String(call["id"]) : ownId;
    repaired = true;
  }
  if (!isCallText(call["type"])) {
    call["type"] = isRecord(call["custom"]) ? "custom" : "function";
    repaired = true;
  }
  return repaired;
}

/**
 * Makes a text of what a tool gets, in place: clients parse it. Some servers send the object itself.
 * @param name - of the member: what a function gets is `arguments`, and what another tool gets `input`.
 * @param absent - stands for what is not there; `undefined`: nothing does.
 * @returns whether anything was changed.
 */
export function repairText(called: unknown, name: string, absent?: string): boolean {
  if (!isRecord(called)) return false;
  const given = called[name] ?? undefined;
  if (typeof given === "string" || (given === undefined && absent === undefined)) return false;
  called[name] = given === undefined ? absent : JSON.stringify(given);
  return true;
}

/** The same for a call, or a piece of one. */
export function repairTexts(call: CallJson, absent?: string): boolean {
  const isRepaired = repairText(call["function"], "arguments", absent);
  return repairText(call["custom"], "input") || isRepaired;
}

export function isCallText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
