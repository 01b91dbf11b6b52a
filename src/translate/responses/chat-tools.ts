import { invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { unsupportedTool } from "../../openai/responses/native/hosted-tools.js";
import { runnerOf } from "../../openai/responses/tool-kinds.js";
import { isRecord } from "../../wire/is-record.js";
import { textFunction } from "../chat/wrapped-text.js";
import { clientToolDefinition, clientToolOf } from "./client-tools.js";
import { type ToolName, ToolNames } from "./tool-names.js";

/** A function as chat completions list it. */
export interface ChatTool {
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
