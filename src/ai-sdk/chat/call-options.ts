import { invalidType, invalidValue } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/refusal.js";
import { adaptiveClaude, leastBudget, thinkingBudgets, thinkingShare } from "../../protocols/messages/claude-models.js";
import { jsonInstruction } from "../../protocols/shared/prompt-tokens.js";
import { isRecord } from "../../wire/is-record.js";
import { type AISDKLanguageModel, mergeProviderOptions, providerName } from "../ai-sdk-model.js";
import type { AISDKOptions, AISDKReasoning, CheckedAISDKOptions } from "../ai-sdk-options.js";
import { toPrompt } from "./prompt.js";

/**
 * A chat completion request as the AI SDK's call options, which are the same in all specifications but for files and
 * reasoning. What neither they nor `providerOptions` have a word for is left out.
 *
 * @param outputCap - for a model that does not go without one.
 * @throws GatewayError 400 for what a model of the AI SDK cannot do at all.
 */
export async function toCallOptions(
  request: Record<string, unknown>,
  model: AISDKLanguageModel,
  options: CheckedAISDKOptions,
  outputCap?: number,
): Promise<Record<string, unknown>> {
  refuseImpossible(request);
  const name = providerName(model);
  const named = numberOf(request["max_completion_tokens"]) ?? numberOf(request["max_tokens"]);
  // Its packages send the most that they know of a model, which may be far above what is held.
  const cap = named ?? (isClaude(model) ? outputCap : undefined);
  const reasoning = toReasoning(request["reasoning_effort"], model, cap, options.reasoning);
  const { tools, toolChoice } = toTools(request);
  const oneToolAtATime =
    request["parallel_tool_calls"] === false && tools !== undefined ? { [name]: oneTool(name) } : {};
  const responseFormat = toResponseFormat(request["response_format"]);
  const isFreeJson = responseFormat?.["type"] === "json" && responseFormat["schema"] === undefined;
  const instructions = isFreeJson && knowsSchemasAlone.includes(name) ? [jsonInstruction()] : [];
  return withoutAbsent({
    prompt: await toPrompt(request["messages"], model, instructions),
    maxOutputTokens: capOf(reasoning.maxOutputTokens, cap),
    temperature: numberOf(request["temperature"]),
    topP: numberOf(request["top_p"]),
    topK: numberOf(request["top_k"]),
    presencePenalty: numberOf(request["presence_penalty"]),
    frequencyPenalty: numberOf(request["frequency_penalty"]),
    seed: numberOf(request["seed"]),
    stopSequences: toStopSequences(request["stop"]),
    responseFormat,
    tools,
    toolChoice,
    reasoning: reasoning.level,
    headers: options.headers,
    providerOptions: mergeProviderOptions(oneToolAtATime, options.providerOptions, reasoning.providerOptions),
  });
}

/** Whatever a function of the host makes of an effort: what is held is the request's own cap. */
function capOf(reasoning: number | undefined, cap: number | undefined): number | undefined {
  return reasoning === undefined || cap === undefined ? (reasoning ?? cap) : Math.min(reasoning, cap);
}

/** Their JSON mode takes a schema: without one, an instruction has to describe it. */
const knowsSchemasAlone = ["anthropic", "bedrock"];

function oneTool(name: string): Record<string, unknown> {
  return name === "anthropic" ? { disableParallelToolUse: true } : { parallelToolCalls: false };
}

/** Silence would be a wrong answer here. */
function refuseImpossible(request: Record<string, unknown>): void {
  const refuse = (param: string, message: string) => {
    throw beyondTarget(param, message, "unsupported_value");
  };
  if ((numberOf(request["n"]) ?? 1) > 1) refuse("n", "This model gives one answer at a time: 'n' must be 1.");
  if (request["logprobs"] === true) refuse("logprobs", "This model gives no 'logprobs'.");
  if (request["functions"] != null) refuse("functions", "'functions' are deprecated: send them as 'tools'.");
  const { modalities } = request;
  if (Array.isArray(modalities) && modalities.includes("audio")) {
    refuse("modalities", "This model does not answer in audio.");
  }
}

function toStopSequences(stop: unknown): string[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const sequences = Array.isArray(stop) ? stop : [stop];
  if (!sequences.every((sequence) => typeof sequence === "string")) {
    throw invalidType("stop", "a string or an array of strings");
  }
  return sequences;
}

function toResponseFormat(format: unknown): Record<string, unknown> | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isRecord(format)) throw invalidType("response_format", "an object");
  if (format["type"] === "json_object") return withoutAbsent({ type: "json", schema: format["schema"] });
  if (format["type"] !== "json_schema") return undefined;
  const schema = format["json_schema"];
  if (!isRecord(schema)) throw invalidType("response_format.json_schema", "an object");
  return withoutAbsent({
    type: "json",
    schema: schema["schema"],
    name: schema["name"],
    description: schema["description"],
  });
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function withoutAbsent(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null));
}

/** The efforts that specification v4 knows. */
const levels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Bedrock has models of others, too. */
function isClaude(model: AISDKLanguageModel): boolean {
  const name = providerName(model);
  return name === "anthropic" || (name === "bedrock" && model.modelId.includes("claude"));
}

/** What the request's `reasoning_effort` is to this model. */
function toReasoning(
  effort: unknown,
  model: AISDKLanguageModel,
  cap: number | undefined,
  custom: AISDKOptions["reasoning"],
): AISDKReasoning & { level?: string } {
  if (typeof effort !== "string") return {};
  if (custom !== undefined) return custom(effort, { maxOutputTokens: cap });
  const name = providerName(model);
  const isClaude = name === "anthropic" || name === "bedrock";
  const isAdaptive = isClaude && adaptiveClaude.test(model.modelId);
  if (model.specificationVersion !== "v2" && model.specificationVersion !== "v3") {
    // The budget that such a model makes of a level goes by the most that it can do, not by the client's cap.
    if (isClaude && !isAdaptive && cap !== undefined) return toBudget(effort, name, cap);
    return levels.includes(effort) ? { level: effort } : {};
  }
  if (name === "anthropic" && isAdaptive) return { providerOptions: { anthropic: toAdaptive(effort) } };
  if (isClaude) return toBudget(effort, name, cap);
  if (name === "google") return { providerOptions: { google: { thinkingConfig: toThinkingConfig(effort, model) } } };
  return { providerOptions: { [name]: { reasoningEffort: effort } } };
}

function toAdaptive(effort: string): Record<string, unknown> {
  if (effort === "none") return { thinking: { type: "disabled" } };
  if (!levels.includes(effort)) return {};
  return { thinking: { type: "adaptive", display: "summarized" }, effort: effort === "minimal" ? "low" : effort };
}

/** They add the budget to the cap, so that it is taken off here: the client's cap holds for both together. */
function toBudget(effort: string, name: "anthropic" | "bedrock", cap: number | undefined): AISDKReasoning {
  const setting = name === "anthropic" ? "thinking" : "reasoningConfig";
  const most = cap === undefined ? Number.POSITIVE_INFINITY : Math.floor(cap * thinkingShare);
  const budget = thinkingBudgets.get(effort);
  if (budget === undefined || most < leastBudget) {
    return effort === "none" ? { providerOptions: { [name]: { [setting]: { type: "disabled" } } } } : {};
  }
  const budgetTokens = Math.min(budget, most);
  return {
    providerOptions: { [name]: { [setting]: { type: "enabled", budgetTokens } } },
    maxOutputTokens: cap === undefined ? undefined : cap - budgetTokens,
  };
}

/** From Gemini 3 on levels, before it budgets. */
function toThinkingConfig(effort: string, { modelId }: AISDKLanguageModel): Record<string, unknown> {
  const generation = Number(/gemini-(\d+)/.exec(modelId)?.[1] ?? 3);
  if (generation < 3) {
    if (effort === "none") return { thinkingBudget: 0 };
    return { thinkingBudget: Math.min(thinkingBudgets.get(effort) ?? 8192, 24_576), includeThoughts: true };
  }
  if (effort === "none") return { thinkingLevel: "minimal" };
  const thinkingLevel = ["minimal", "low", "medium"].includes(effort) ? effort : "high";
  return { thinkingLevel, includeThoughts: true };
}

interface Tool {
  type: "function";
  name: string;
  description?: string;
  inputSchema: unknown;
  strict?: boolean;
}

type ToolChoice = { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string };

/** The request's `tools` and `tool_choice`. */
function toTools(request: Record<string, unknown>): {
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
