import { invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { unsupportedTool } from "../../openai/responses/native/hosted-tools.js";
import { runnerOf } from "../../openai/responses/tool-kinds.js";
import { isRecord } from "../../wire/is-record.js";
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

/** The member in which a model sends what a tool takes as a text. */
export const wrappedInput = "input";

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
      if (runnerOf(name) !== "search") throw unsupportedTool(`${path}.type`, name);
    }
  }
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
  const texts = [typeof description === "string" ? description : "", wrapperNote];
  if (isRecord(format) && format["type"] === "grammar" && typeof format["definition"] === "string") {
    const syntax = typeof format["syntax"] === "string" ? format["syntax"] : "";
    texts.push(`The text must match this grammar (${syntax}):\n${format["definition"]}`);
  }
  return {
    description: texts.filter((text) => text !== "").join("\n\n"),
    parameters: {
      type: "object",
      properties: { [wrappedInput]: { type: "string", description: "The whole raw text" } },
      required: [wrappedInput],
      additionalProperties: false,
    },
  };
}

export const wrapperNote = `This tool takes one raw text. Send all of it, unchanged, as the string '${wrappedInput}'.`;
