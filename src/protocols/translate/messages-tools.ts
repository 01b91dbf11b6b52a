import { invalidType } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/refusal.js";
import { isRecord } from "../../wire/is-record.js";
import { recordsIn } from "./request-elements.js";
import { type Grammar, textFunction } from "./wrapped-text.js";

/** What a chat completion says of tools. */
export interface ChatToolMembers {
  readonly tools: unknown;
  readonly functions: unknown;
  readonly toolChoice: unknown;
  readonly functionCall: unknown;
  readonly parallel: unknown;
}

/** The members of a request for a message that have to do with tools. */
export interface MessagesToolMembers {
  readonly tools?: readonly Record<string, unknown>[];
  readonly tool_choice?: Record<string, unknown>;
}

/** @throws GatewayError 400 for a tool that Messages cannot have. */
export function messagesTools(said: ChatToolMembers): MessagesToolMembers {
  const listed = [
    ...toolsIn(said.tools).map((tool, index) => messagesTool(tool, `tools[${index}]`)),
    ...recordsIn(said.functions).map((called) => describedTool(called, undefined)),
  ];
  const choice = said.toolChoice ?? said.functionCall;
  const allowed = isRecord(choice) && choice["type"] === "allowed_tools" ? choice["allowed_tools"] : undefined;
  const names = isRecord(allowed) ? recordsIn(allowed["tools"]).map(nameOf) : undefined;
  const tools = names === undefined ? listed : listed.filter(({ name }) => names.includes(name));
  if (tools.length === 0) return {};
  const chosen = messagesChoice(isRecord(allowed) ? allowed["mode"] : choice);
  if (said.parallel !== false || chosen?.["type"] === "none") {
    return chosen === undefined ? { tools } : { tools, tool_choice: chosen };
  }
  return { tools, tool_choice: { ...(chosen ?? { type: "auto" }), disable_parallel_tool_use: true } };
}

function toolsIn(tools: unknown): Record<string, unknown>[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools) || !tools.every(isRecord)) throw invalidType("tools", "an array of objects");
  return tools;
}

function messagesTool(tool: Record<string, unknown>, path: string): Record<string, unknown> {
  const { type, function: called, custom, cache_control: cacheControl } = tool;
  if (type === "custom" && isRecord(custom)) {
    const { name, description, format } = custom;
    return describedTool({ name, ...textFunction(description, grammarOf(format)) }, cacheControl);
  }
  if (!isRecord(called) || (type !== undefined && type !== "function")) {
    throw beyondTarget(
      path,
      "This model takes tools of the types 'function' and 'custom' alone.",
      "unsupported_parameter",
    );
  }
  return describedTool(called, cacheControl);
}

function describedTool(called: Record<string, unknown>, cacheControl: unknown): Record<string, unknown> {
  const { name, description, parameters, strict } = called;
  const schema = isRecord(parameters) ? parameters : {};
  return {
    name,
    ...(typeof description === "string" && description !== "" ? { description } : undefined),
    input_schema: { ...schema, type: "object", properties: schema["properties"] ?? {} },
    ...(strict === true ? { strict } : undefined),
    ...(isRecord(cacheControl) ? { cache_control: cacheControl } : undefined),
  };
}

function messagesChoice(choice: unknown): Record<string, unknown> | undefined {
  if (choice === "auto" || choice === "none") return { type: choice };
  if (choice === "required") return { type: "any" };
  const name = isRecord(choice) ? nameOf(choice) : undefined;
  return name === undefined ? undefined : { type: "tool", name };
}

function grammarOf(format: unknown): Grammar | undefined {
  const grammar = isRecord(format) && format["type"] === "grammar" ? format["grammar"] : undefined;
  return isRecord(grammar) ? { syntax: grammar["syntax"], definition: grammar["definition"] } : undefined;
}

/** The names of the custom tools, of which the server does not know that they are. */
export function customNames(tools: unknown): ReadonlySet<string> {
  const names = recordsIn(tools)
    .filter(({ type }) => type === "custom")
    .map(nameOf);
  return new Set(names.filter((name) => typeof name === "string"));
}

/** `{"type":"function","function":{"name":…}}`, the same with `custom`, or `{"name":…}` as formerly. */
function nameOf(choice: Record<string, unknown>): unknown {
  const { function: called, custom } = choice;
  if (isRecord(called)) return called["name"];
  return isRecord(custom) ? custom["name"] : choice["name"];
}
