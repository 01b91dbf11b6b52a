import { invalidType, invalidValue } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/refusal.js";
import type { ThoughtSeal } from "../../seal/payload-seal.js";
import { isRecord } from "../../wire/is-record.js";
import { jsonSteps } from "../../wire/json-steps.js";
import { SliceCount, type Steps } from "../../wire/slices.js";
import type { MessagesRequest } from "../messages/messages-request.js";
import { blockParts } from "./block-parts.js";
import { ChatMessages } from "./chat-messages.js";
import { MessageToolNames, type MessageTranslation } from "./message-translation.js";
import {
  messageStarts,
  messageSteps,
  type RequestMembers,
  recordsIn,
  requestValue,
  valueOfSteps,
} from "./request-elements.js";

/** A request for a message as one for a chat completion. */
interface TranslatedMessagesRequest {
  /** The chat completion's, with the client's name for the model. */
  readonly body: Uint8Array;
  /** What its answer is translated by. */
  readonly translation: MessageTranslation;
}

/** OpenAI takes no more stop sequences. */
const mostStops = 4;

/** The first block of Claude Code's system prompt is for Anthropic, and different in every session. */
const attribution = /^x-anthropic-billing-header:/;

/** Budgets of thinking tokens, and the efforts that they amount to. */
const efforts: readonly (readonly [below: number, effort: string])[] = [
  [4096, "low"],
  [16_384, "medium"],
];

/**
 * Translates a request of a client of Messages for a target that speaks chat completions. What chat completions cannot say
 * and the answer does not depend on is left out.
 *
 * @throws GatewayError 400 when the target cannot do what is asked for.
 */
export function* chatRequestOfMessagesSteps(
  request: MessagesRequest,
  options: ChatTargetOptions,
): Steps<TranslatedMessagesRequest> {
  refuseServers(request);
  if (request.maxTokens === 0) throw beyondTarget("max_tokens", noCache, "unsupported_value");
  const toolNames = new MessageToolNames();
  const stopSequences = stringsIn(requestValue(request, "stop_sequences"));
  const thinking = requestValue(request, "thinking");
  const body = {
    model: request.model,
    messages: yield* chatMessages(request, options.thoughts, toolNames),
    ...(request.maxTokens === undefined ? undefined : { max_tokens: request.maxTokens }),
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : undefined),
    ...numbers(request, ["temperature", "top_p"]),
    ...(stopSequences.length === 0 ? undefined : { stop: stopSequences.slice(0, mostStops) }),
    ...chatTools(requestValue(request, "tools"), requestValue(request, "tool_choice"), toolNames),
    ...outputMembers(request, thinking, options),
  };
  return {
    body: yield* jsonSteps(body, request.body.length),
    translation: { toolNames, stopSequences, thinking: visibility(thinking), thoughts: options.thoughts },
  };
}

const noCache = "With 0, a request fills the cache of Anthropic's API, which this model does not have. Send at least 1";

function refuseServers(request: MessagesRequest): void {
  if (recordsIn(requestValue(request, "mcp_servers")).length === 0) return;
  throw beyondTarget("mcp_servers", "MCP servers are not supported by this model", "unsupported_parameter");
}

function* chatMessages(
  request: RequestMembers,
  thoughts: ThoughtSeal,
  toolNames: MessageToolNames,
): Steps<readonly unknown[]> {
  const messages = new ChatMessages(thoughts, toolNames);
  const system = yield* valueOfSteps(request, "system");
  if (system !== undefined && typeof system !== "string" && !Array.isArray(system)) {
    throw invalidType("system", "a valid string or list");
  }
  const blocks = typeof system === "string" ? [{ type: "text", text: system }] : recordsIn(system);
  const own = blocks.filter(({ text }) => !(typeof text === "string" && attribution.test(text)));
  messages.addSystem(own.flatMap((block, index) => blockParts(block, `system[${index}]`)));
  const count = new SliceCount();
  for (const [index, start] of messageStarts(request).entries()) {
    const message = yield* messageSteps(request, { index, start }, count, "input");
    if (message !== undefined) messages.add(message);
  }
  const translated = messages.finish();
  if (translated.every((message) => isRecord(message) && message["role"] === "system")) {
    throw invalidValue("messages", "at least one message with content is required");
  }
  return translated;
}

function numbers(request: RequestMembers, names: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const name of names) {
    const value = requestValue(request, name);
    if (typeof value === "number") found[name] = value;
  }
  return found;
}

function outputMembers(
  request: RequestMembers,
  thinking: unknown,
  { reasoning = false }: ChatTargetOptions,
): Record<string, unknown> {
  const config = requestValue(request, "output_config");
  const { effort, format } = isRecord(config) ? config : {};
  const asked = typeof effort === "string" ? effort : effortOf(thinking);
  return {
    ...(reasoning && asked !== undefined ? { reasoning_effort: asked } : undefined),
    ...responseFormat(format ?? requestValue(request, "output_format")),
  };
}

function effortOf(thinking: unknown): string | undefined {
  if (!isRecord(thinking) || thinking["type"] !== "enabled") return undefined;
  const budget = thinking["budget_tokens"];
  if (typeof budget !== "number") return undefined;
  return efforts.find(([below]) => budget < below)?.[1] ?? "high";
}

function responseFormat(format: unknown): Record<string, unknown> {
  if (!isRecord(format) || format["type"] !== "json_schema" || !isRecord(format["schema"])) return {};
  const described = { name: "output", schema: format["schema"], strict: true };
  return { response_format: { type: "json_schema", json_schema: described } };
}

/** Clients that do not ask for thinking do not expect any. */
function visibility(thinking: unknown): MessageTranslation["thinking"] {
  if (!isRecord(thinking) || typeof thinking["type"] !== "string" || thinking["type"] === "disabled") return "hidden";
  return thinking["display"] === "omitted" ? "omitted" : "shown";
}

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

/** What is known of a target that speaks chat completions, for requests that are translated for it. */
export interface ChatTargetOptions {
  /** For the signatures of the target's thinking. */
  readonly thoughts: ThoughtSeal;
  /** The model can reason: an effort that the client asks for goes to it. Default: `false`. */
  readonly reasoning?: boolean | undefined;
}

/** Tools that only find other tools: where all of these are described anyway, nothing is lost without them. */
const toolSearch = /^(?:tool_search_tool_|mcp_toolset)/;

/**
 * The members of a chat completion that have to do with tools.
 * @throws GatewayError 400 for a tool that the target cannot have.
 */
function chatTools(tools: unknown, choice: unknown, toolNames: MessageToolNames): Record<string, unknown> {
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
