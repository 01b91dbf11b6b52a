import { isRecord } from "../../../wire/is-record.js";
import { repairText } from "../../chat/tool-calls.js";

/** The member of an item, or of an event, by which a model gives a tool what it gets. Clients take it for a text. */
const textOfItem: ReadonlyMap<unknown, string> = new Map([
  ["function_call", "arguments"],
  ["mcp_call", "arguments"],
  ["custom_tool_call", "input"],
]);
const textOfEvent: ReadonlyMap<unknown, string> = new Map([
  ["response.function_call_arguments.delta", "delta"],
  ["response.function_call_arguments.done", "arguments"],
  ["response.mcp_call_arguments.delta", "delta"],
  ["response.mcp_call_arguments.done", "arguments"],
  ["response.custom_tool_call_input.delta", "delta"],
  ["response.custom_tool_call_input.done", "input"],
]);

/**
 * Makes texts of what tools get, in place: some servers send the object itself.
 * @param items - the output of a response.
 * @returns whether anything was changed.
 */
export function repairItems(items: unknown): boolean {
  let isRepaired = false;
  if (Array.isArray(items)) for (const item of items) if (repairItem(item)) isRepaired = true;
  return isRepaired;
}

/** The same for an event of a stream. */
export function repairEvent(event: Record<string, unknown>): boolean {
  const { type, item, response } = event;
  const name = textOfEvent.get(type);
  if (name !== undefined) return repairText(event, name);
  return repairItem(item) || (isRecord(response) && repairItems(response["output"]));
}

function repairItem(item: unknown): boolean {
  const name = isRecord(item) ? textOfItem.get(item["type"]) : undefined;
  return name !== undefined && repairText(item, name);
}
