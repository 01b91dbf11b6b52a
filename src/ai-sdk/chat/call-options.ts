import { invalidType } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/target-limit.js";
import { jsonInstruction } from "../../model-api/prompt/json-instruction.js";
import { isRecord } from "../../wire/is-record.js";
import { type AISDKLanguageModel, providerName } from "../ai-sdk-model.js";
import type { CheckedAISDKOptions } from "../ai-sdk-options.js";
import { mergeProviderOptions } from "../merge-provider-options.js";
import { toPrompt } from "./prompt.js";
import { isClaude, toReasoning } from "./reasoning.js";
import { toTools } from "./tools.js";

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
