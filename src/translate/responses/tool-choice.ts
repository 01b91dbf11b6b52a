import { invalidType, invalidValue } from "../../errors/gateway-error.js";
import { unsupportedTool } from "../../openai/responses/native/hosted-tools.js";
import { runnerOf } from "../../openai/responses/tool-kinds.js";
import { isRecord } from "../../wire/is-record.js";
import type { ChatTool, ChatTools } from "./chat-tools.js";
import type { ToolKind } from "./tool-names.js";

/** Which tools a model may, or must, call. */
export interface ChosenTools {
  readonly tools: readonly ChatTool[];
  /** As chat completions put it; `undefined`: nothing was said. */
  readonly choice: unknown;
}

const modes: readonly unknown[] = ["none", "auto", "required"];

/** @throws GatewayError 400 */
export function chooseTools(choice: unknown, chat: ChatTools): ChosenTools {
  const { tools } = chat;
  if (choice === undefined || choice === null) return { tools, choice: undefined };
  if (typeof choice === "string") {
    if (modes.includes(choice)) return { tools, choice };
    throw invalidValue("tool_choice", "'tool_choice' must be 'none', 'auto', 'required', or an object.");
  }
  if (!isRecord(choice)) throw invalidType("tool_choice", "a string or an object");
  if (choice["type"] === "allowed_tools") return allowTools(choice, chat);
  const flat = flatNameOf(choice, chat);
  if (flat !== undefined) {
    if (!tools.some((tool) => tool.function.name === flat)) throw notListed("tool_choice.name", choice["name"]);
    return { tools, choice: { type: "function", function: { name: flat } } };
  }
  const type = typeof choice["type"] === "string" ? choice["type"] : undefined;
  if (runnerOf(type) === "search") return { tools, choice: "auto" };
  throw unsupportedTool("tool_choice.type", type);
}

/** The list is cut down to what is allowed: few servers know of such a choice. */
function allowTools(choice: Record<string, unknown>, chat: ChatTools): ChosenTools {
  const { mode = "auto", tools: allowed } = choice;
  if (mode !== "auto" && mode !== "required") {
    throw invalidValue("tool_choice.mode", "'tool_choice.mode' must be 'auto' or 'required'.");
  }
  if (!Array.isArray(allowed)) throw invalidType("tool_choice.tools", "an array");
  const names = new Set<string>();
  const namespaces = new Set<string>();
  for (const tool of allowed) {
    if (!isRecord(tool)) continue;
    if (tool["type"] === "namespace" && typeof tool["name"] === "string") namespaces.add(tool["name"]);
    const flat = flatNameOf(tool, chat);
    if (flat !== undefined) names.add(flat);
  }
  const tools = chat.tools.filter(({ function: { name } }) => {
    const { namespace } = chat.names.restore(name);
    return names.has(name) || (namespace !== undefined && namespaces.has(namespace));
  });
  return { tools, choice: mode };
}

const kinds: readonly unknown[] = ["function", "custom", "tool_search", "shell", "local_shell", "apply_patch"];

function flatNameOf({ type, name, namespace }: Record<string, unknown>, { names }: ChatTools): string | undefined {
  if (!kinds.includes(type)) return undefined;
  return names.flatten({
    kind: type as ToolKind,
    name: type === "function" || type === "custom" ? textOf(name) : textOf(type),
    namespace: typeof namespace === "string" ? namespace : undefined,
  });
}

function notListed(param: string, name: unknown) {
  return invalidValue(param, `'tools' holds no tool of the name '${textOf(name).slice(0, 100)}'.`);
}

/** Anything else is the name of no tool. */
function textOf(name: unknown): string {
  return typeof name === "string" ? name : "";
}
