import { isRecord } from "../../wire/is-record.js";
import { callIdOf } from "./call-id.js";
import { toChatParts } from "./chat-parts.js";
import { clientToolOf } from "./client-tools.js";
import type { Conversation } from "./conversation.js";
import type { ToolNames } from "./tool-names.js";

/** What calls of a client's built-in tools say, by their types: the rest of the item is about it. */
const callMembers: ReadonlyMap<string, string> = new Map([
  ["local_shell_call", "action"],
  ["shell_call", "action"],
  ["apply_patch_call", "operation"],
  ["computer_call", "action"],
]);

/** What tools that a server has run gave, by the types of their items. */
const resultMembers: ReadonlyMap<string, string> = new Map([
  ["mcp_call", "output"],
  ["code_interpreter_call", "outputs"],
  ["file_search_call", "results"],
  ["program_output", "result"],
]);

/**
 * Adds what is left of a built-in tool in a history: what the client ran as a call with its output, what a server ran as its
 * output alone. All else, such as a search of the web or an opaque summary, is left out.
 */
export function addBuiltInItem(
  item: Readonly<Record<string, unknown>>,
  type: string,
  index: number,
  { conversation, names }: { readonly conversation: Conversation; readonly names: ToolNames },
): void {
  const callId = callIdOf(item, index);
  const called = callMembers.get(type);
  const result = item[resultMembers.get(type) ?? ""] ?? "";
  if (called !== undefined) {
    const tool = type.slice(0, -"_call".length);
    const kind = clientToolOf(tool);
    const name = kind === undefined ? tool : names.flatten({ kind, name: kind });
    conversation.call(callId, name, JSON.stringify(item[called] ?? {}));
  } else if (type.endsWith("_call_output")) {
    conversation.output(callId, outputParts(item["output"] ?? item["status"], index));
  } else if (result !== "") {
    const text = typeof result === "string" ? result : JSON.stringify(result);
    conversation.output(callId, [{ type: "text", text }]);
  }
}

function outputParts(output: unknown, index: number) {
  if (isRecord(output) && output["type"] === "computer_screenshot") {
    return toChatParts([output], `input[${index}].output`);
  }
  const text = typeof output === "string" ? output : output === undefined ? "" : JSON.stringify(output);
  return [{ type: "text", text }];
}
