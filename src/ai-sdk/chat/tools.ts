import { invalidType, invalidValue } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/target-limit.js";
import { isRecord } from "../../wire/is-record.js";

interface Tool {
  type: "function";
  name: string;
  description?: string;
  inputSchema: unknown;
  strict?: boolean;
}

type ToolChoice = { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string };

/** The request's `tools` and `tool_choice`. */
export function toTools(request: Record<string, unknown>): {
  tools: Tool[] | undefined;
  toolChoice: ToolChoice | undefined;
} {
  const given = request["tools"] ?? [];
  if (!Array.isArray(given)) throw invalidType("tools", "an array of objects");
  const tools = given.map(toTool);
  if (tools.length === 0) return { tools: undefined, toolChoice: undefined };
  const choice = request["tool_choice"];
  if (isRecord(choice) && choice["type"] === "allowed_tools") return toAllowedTools(choice["allowed_tools"], tools);
  return { tools, toolChoice: toToolChoice(choice) };
}

function toTool(tool: unknown, index: number): Tool {
  const param = `tools[${index}]`;
  if (!isRecord(tool)) throw invalidType(param, "an object");
  if (tool["type"] !== "function")
    throw beyondTarget(`${param}.type`, "This model takes tools of type 'function' alone.");
  const { function: definition } = tool;
  if (!isRecord(definition)) throw invalidType(`${param}.function`, "an object");
  const { name, description, parameters, strict } = definition;
  if (typeof name !== "string" || name === "") throw invalidType(`${param}.function.name`, "a string");
  return {
    type: "function",
    name,
    ...(typeof description === "string" ? { description } : undefined),
    inputSchema: isRecord(parameters) ? parameters : { type: "object", properties: {} },
    ...(typeof strict === "boolean" ? { strict } : undefined),
  };
}

function toToolChoice(choice: unknown): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (choice === "auto" || choice === "none" || choice === "required") return { type: choice };
  const named = isRecord(choice) ? choice["function"] : undefined;
  if (isRecord(named) && typeof named["name"] === "string") return { type: "tool", toolName: named["name"] };
  throw invalidValue("tool_choice", "'tool_choice' must be 'auto', 'none', 'required' or the name of a function.");
}

function toAllowedTools(allowed: unknown, tools: readonly Tool[]): { tools: Tool[]; toolChoice: ToolChoice } {
  const list = isRecord(allowed) && Array.isArray(allowed["tools"]) ? allowed["tools"] : undefined;
  if (!isRecord(allowed) || list === undefined)
    throw invalidType("tool_choice.allowed_tools", "an object with 'tools'");
  const names = list.map((tool) =>
    isRecord(tool) && isRecord(tool["function"]) ? tool["function"]["name"] : undefined,
  );
  return {
    tools: tools.filter(({ name }) => names.includes(name)),
    toolChoice: { type: allowed["mode"] === "required" ? "required" : "auto" },
  };
}
