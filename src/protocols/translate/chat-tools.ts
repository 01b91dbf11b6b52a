import { invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { isRecord } from "../../wire/is-record.js";
import { unsupportedTool } from "../responses/responses-capabilities.js";
import { runnerOf } from "../responses/tool-kinds.js";
import { clientToolDefinition, clientToolOf } from "./client-tools.js";
import { type ToolKind, type ToolName, ToolNames } from "./tool-names.js";
import { textFunction } from "./wrapped-text.js";

/** A function as chat completions list it. */
interface ChatTool {
  readonly type: "function";
  readonly function: Readonly<Record<string, unknown>> & { readonly name: string };
}

/** What a chat completion request says of tools, and what its answer's calls mean. */
export interface ChatTools {
  readonly tools: readonly ChatTool[];
  readonly names: ToolNames;
}

/** A list of tools, and where it stands in the request, such as `tools`. */
export interface ToolList {
  readonly path: string;
  readonly tools: readonly unknown[];
}

/**
 * The tools of a request as functions. A tool that stands in several lists counts once.
 * @throws GatewayError 400
 */
export function toChatTools(lists: readonly ToolList[]): ChatTools {
  const names = new ToolNames();
  const tools: ChatTool[] = [];
  const add = (tool: ToolName, definition: Record<string, unknown>) => {
    const name = names.declare(tool);
    if (name !== undefined) tools.push({ type: "function", function: { name, ...definition } });
  };
  for (const { path, tools: list } of lists) {
    for (const [index, tool] of list.entries()) addTool(tool, { path: `${path}[${index}]`, add });
  }
  return { tools, names };
}

interface Place {
  readonly path: string;
  readonly add: (tool: ToolName, definition: Record<string, unknown>) => void;
  readonly namespace?: string;
}

function addTool(tool: unknown, place: Place): void {
  const { path, add, namespace } = place;
  if (!isRecord(tool)) throw invalidType(path, "an object");
  const { type } = tool;
  switch (type) {
    case "function":
      add({ kind: "function", name: nameOf(tool, path), namespace }, functionOf(tool));
      break;
    case "custom":
      add({ kind: "custom", name: nameOf(tool, path), namespace }, wrapperOf(tool));
      break;
    case "namespace":
      addNamespace(tool, place);
      break;
    case "tool_search":
      // Without a word about it, the server would search.
      if (tool["execution"] === "client") add({ kind: "tool_search", name: "tool_search" }, functionOf(tool));
      break;
    default: {
      const name = typeof type === "string" ? type : undefined;
      const kind = clientToolOf(name);
      if (kind !== undefined && (kind !== "shell" || isLocal(tool["environment"]))) {
        add({ kind, name: kind }, clientToolDefinition(kind));
        break;
      }
      if (runnerOf(name) !== "search") throw unsupportedTool(`${path}.type`, name);
    }
  }
}

/** A shell of another kind is the server's. */
function isLocal(environment: unknown): boolean {
  return isRecord(environment) && environment["type"] === "local";
}

function addNamespace(tool: Record<string, unknown>, { path, add, namespace }: Place): void {
  if (namespace !== undefined) throw invalidValue(`${path}.type`, "A namespace cannot stand in a namespace.");
  const name = nameOf(tool, path);
  const { tools } = tool;
  if (!Array.isArray(tools)) throw invalidType(`${path}.tools`, "an array");
  for (const [index, inner] of tools.entries()) {
    addTool(inner, { path: `${path}.tools[${index}]`, add, namespace: name });
  }
}

function nameOf({ name }: Record<string, unknown>, path: string): string {
  if (name === undefined || name === null || name === "") throw missingParameter(`${path}.name`);
  if (typeof name !== "string") throw invalidType(`${path}.name`, "a string");
  return name;
}

function functionOf({ description, parameters, strict }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...(typeof description === "string" ? { description } : undefined),
    parameters: isRecord(parameters) ? parameters : { type: "object", properties: {} },
    ...(typeof strict === "boolean" ? { strict } : undefined),
  };
}

/** A function that takes the text of a custom tool. */
function wrapperOf({ description, format }: Record<string, unknown>): Record<string, unknown> {
  const isGrammar = isRecord(format) && format["type"] === "grammar";
  return textFunction(
    description,
    isGrammar ? { syntax: format["syntax"], definition: format["definition"] } : undefined,
  );
}

/** Which tools a model may, or must, call. */
interface ChosenTools {
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
