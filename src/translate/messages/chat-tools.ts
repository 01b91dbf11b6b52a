import { invalidType } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/target-limit.js";
import { isRecord } from "../../wire/is-record.js";
import type { MessageToolNames } from "./message-tool-names.js";

/** Tools that only find other tools: where all of these are described anyway, nothing is lost without them. */
const toolSearch = /^(?:tool_search_tool_|mcp_toolset)/;

/**
 * The members of a chat completion that have to do with tools.
 * @throws GatewayError 400 for a tool that the target cannot have.
 */
export function chatTools(tools: unknown, choice: unknown, toolNames: MessageToolNames): Record<string, unknown> {
  if (tools === undefined) return {};
  if (!Array.isArray(tools)) throw invalidType("tools", "a valid list");
  const functions = tools.flatMap((tool, index) => chatTool(tool, `tools[${index}]`, toolNames));
  if (functions.length === 0) return {};
  return { tools: functions, ...(isRecord(choice) ? chatChoice(choice, toolNames) : undefined) };
}

function chatTool(tool: unknown, path: string, toolNames: MessageToolNames): Record<string, unknown>[] {
  if (!isRecord(tool)) throw invalidType(path, "an object");
  const { type, name, description, input_schema: schema, strict } = tool;
  if (typeof type === "string" && type !== "custom") {
    if (toolSearch.test(type)) return [];
    throw beyondTarget(
      path,
      `type '${type.slice(0, 100)}' is not supported by this model; define it as a custom tool`,
      "unsupported_parameter",
    );
  }
  if (typeof name !== "string" || name === "") throw invalidType(`${path}.name`, "a valid string");
  const described = typeof description === "string" && description !== "" ? { description } : undefined;
  const isStrict = typeof strict === "boolean" ? { strict } : undefined;
  const called = { name: toolNames.toChat(name), ...described, parameters: parametersOf(schema), ...isStrict };
  return [{ type: "function", function: called }];
}

/** Servers insist on `properties`, and some refuse `$schema`. */
function parametersOf(schema: unknown): Record<string, unknown> {
  const { $schema: _, ...members } = isRecord(schema) ? schema : {};
  if (isRecord(members["properties"])) return members;
  return { type: "object", ...members, properties: {} };
}

function chatChoice(
  { type, name, disable_parallel_tool_use: disablesParallel }: Record<string, unknown>,
  toolNames: MessageToolNames,
): Record<string, unknown> {
  const parallel = disablesParallel === true ? { parallel_tool_calls: false } : undefined;
  switch (type) {
    case "auto":
    case "none":
      return { tool_choice: type, ...parallel };
    case "any":
      return { tool_choice: "required", ...parallel };
    case "tool":
      return {
        tool_choice: { type: "function", function: { name: toolNames.toChat(String(name)) } },
        ...parallel,
      };
    default:
      return { ...parallel };
  }
}
