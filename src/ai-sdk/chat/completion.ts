import { Buffer } from "node:buffer";
import { isEnd, meaningOfEnd } from "../../protocols/shared/received-response.js";
import { readReport } from "../../protocols/shared/usage-tally.js";
import { isRecord } from "../../wire/is-record.js";
import { type AISDKLanguageModel, providerName } from "../ai-sdk-model.js";
import { modelEndedInError } from "../error-response.js";
import { extraContent, type ReasoningDetail, signatureOf } from "./prompt-parts.js";

/** What `doGenerate` resolved to, as a chat completion. */
export function toCompletion(
  result: unknown,
  model: AISDKLanguageModel,
  call: { model: string; requestId: string },
): Record<string, unknown> {
  if (!isRecord(result) || !Array.isArray(result["content"])) throw new TypeError("The model's result has no content.");
  const parts = result["content"].filter(isRecord);
  const message = toMessage(parts);
  const ending = toFinishReason(result["finishReason"], message["tool_calls"] !== undefined);
  if (ending === "error") throw modelEndedInError();
  const response = isRecord(result["response"]) ? result["response"] : {};
  return {
    id: typeof response["id"] === "string" ? response["id"] : `chatcmpl-${call.requestId}`,
    object: "chat.completion",
    created: toCreated(response["timestamp"]),
    model: call.model,
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: ending === "incomplete" ? "stop" : ending.finishReason,
      },
    ],
    usage: toUsage(result["usage"], model, result["providerMetadata"]),
  };
}

/** Epoch seconds. */
export function toCreated(timestamp: unknown): number {
  const date = timestamp instanceof Date ? timestamp.getTime() : Number.NaN;
  return Math.floor((Number.isNaN(date) ? Date.now() : date) / 1000);
}

function toMessage(parts: readonly Record<string, unknown>[]): Record<string, unknown> {
  const text = joined(parts, "text");
  const reasoning = joined(parts, "reasoning");
  const details = parts.filter(isReasoning).flatMap(toReasoningDetails);
  // A tool call that the model's server has made and answered itself is not the client's.
  const calls = parts.filter((part) => part["type"] === "tool-call" && part["providerExecuted"] !== true);
  const images = parts.filter((part) => part["type"] === "file").flatMap(toImage);
  const annotations = parts.filter((part) => part["type"] === "source").flatMap(toAnnotation);
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning === "" ? undefined : { reasoning_content: reasoning }),
    ...(details.length === 0 ? undefined : { reasoning_details: details }),
    ...(images.length === 0 ? undefined : { images }),
    ...(annotations.length === 0 ? undefined : { annotations }),
    ...(calls.length === 0 ? undefined : { tool_calls: calls.map(toToolCall) }),
  };
}

function joined(parts: readonly Record<string, unknown>[], type: string): string {
  return parts.map((part) => (part["type"] === type && typeof part["text"] === "string" ? part["text"] : "")).join("");
}

function isReasoning(part: Record<string, unknown>): boolean {
  return part["type"] === "reasoning";
}

function toReasoningDetails(part: Record<string, unknown>, index: number): ReasoningDetail[] {
  const { signature, data } = signatureOf(part["providerMetadata"]);
  if (data !== undefined) return [{ type: "reasoning.encrypted", index, data }];
  const text = typeof part["text"] === "string" ? part["text"] : "";
  return signature === undefined ? [] : [{ type: "reasoning.text", index, text, signature }];
}

function toToolCall(part: Record<string, unknown>): Record<string, unknown> {
  return {
    id: part["toolCallId"],
    type: "function",
    function: { name: part["toolName"], arguments: toArguments(part["input"]) },
    ...extraContent(part["providerMetadata"]),
  };
}

/** Text of JSON, never empty. */
export function toArguments(input: unknown): string {
  if (typeof input === "string") return input === "" ? "{}" : input;
  return JSON.stringify(input ?? {});
}

/** A file that the model has made: images in the form that OpenRouter has given them. */
export function toImage(part: Record<string, unknown>): Record<string, unknown>[] {
  const { mediaType } = part;
  const data =
    isRecord(part["data"]) && "type" in part["data"] ? (part["data"]["data"] ?? part["data"]["url"]) : part["data"];
  if (typeof mediaType !== "string" || !mediaType.startsWith("image/")) return [];
  if (data instanceof URL) return [{ type: "image_url", image_url: { url: data.href } }];
  const base64 = data instanceof Uint8Array ? Buffer.from(data).toString("base64") : data;
  if (typeof base64 !== "string") return [];
  return [{ type: "image_url", image_url: { url: `data:${mediaType};base64,${base64}` } }];
}

/** A source on the web that the model has used. */
export function toAnnotation(part: Record<string, unknown>): Record<string, unknown>[] {
  const { sourceType, url, title } = part;
  if (sourceType !== "url" || typeof url !== "string") return [];
  const citation = { start_index: 0, end_index: 0, url, title: typeof title === "string" ? title : url };
  return [{ type: "url_citation", url_citation: citation }];
}

/** Why a response ended, with OpenAI's values. `incomplete`: the model gave no reason; `error`: it failed. */
type FinishReason = { finishReason: string } | "incomplete" | "error";

const reasons: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

/** v2 has one value for the reason; later versions have one value, and the one of the model's server. */
export function toFinishReason(reason: unknown, hasToolCalls: boolean): FinishReason {
  const unified = isRecord(reason) ? reason["unified"] : reason;
  const raw = isRecord(reason) ? reason["raw"] : undefined;
  if (unified === "error") return "error";
  const known = typeof unified === "string" && Object.hasOwn(reasons, unified) ? reasons[unified] : undefined;
  if (known !== undefined) return { finishReason: known === "stop" && hasToolCalls ? "tool_calls" : known };
  // Where a stream was cut off, providers still send an end, with an empty reason.
  if (!isEnd(raw) || unified === "interrupted") return "incomplete";
  const meaning = meaningOfEnd(raw) ?? "stop";
  return meaning === "error" ? meaning : { finishReason: meaning };
}

/**
 * OpenAI's `usage` of the AI SDK's: nested from v3 on, flat before. Some models of v2 do not count in the input what
 * came from a cache, and went into it.
 *
 * @returns `undefined` where the model reports none.
 */
export function toUsage(usage: unknown, model: UsedModel, metadata?: unknown): Record<string, unknown> | undefined {
  if (!isRecord(usage)) return undefined;
  const { input, cached, cacheWrite, output, reasoning, total } =
    model.specificationVersion === "v2" ? readFlat(usage, providerName(model), metadata) : readNested(usage);
  if (input === undefined && output === undefined) return undefined;
  // Google's response of v2 leaves the thoughts out, and counts them in the total.
  const completion = output === undefined || input === undefined ? output : Math.max(output, (total ?? 0) - input);
  const own = rawUsage(usage, model, metadata);
  const { inputAudio, outputAudio } = readReport(own)?.tokens ?? {};
  return {
    // A half that the model leaves out is estimated.
    ...(input !== undefined && { prompt_tokens: input }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(input !== undefined && completion !== undefined && { total_tokens: input + completion }),
    prompt_tokens_details: {
      cached_tokens: cached ?? 0,
      ...(cacheWrite === undefined ? undefined : { cache_write_tokens: cacheWrite }),
      ...(inputAudio !== undefined && { audio_tokens: inputAudio }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning ?? 0,
      ...(outputAudio !== undefined && { audio_tokens: outputAudio }),
    },
    // Anthropic's price of a write goes by how long it is kept.
    ...(isRecord(own["cache_creation"]) && { cache_creation: own["cache_creation"] }),
    ...tierOf(own, model, metadata),
  };
}

interface UsedModel {
  readonly specificationVersion: string;
  readonly provider: string;
}

/** The server's own report: from v3 on beside the counts, and of some providers in the metadata. */
function rawUsage(usage: Record<string, unknown>, model: UsedModel, metadata: unknown): Record<string, unknown> {
  const ofProvider = ofModel(metadata, model)["usage"];
  if (isRecord(ofProvider)) return ofProvider;
  return isRecord(usage["raw"]) ? usage["raw"] : {};
}

function tierOf(own: Record<string, unknown>, model: UsedModel, metadata: unknown): { service_tier?: string } {
  const { serviceTier = own["service_tier"] } = ofModel(metadata, model);
  return typeof serviceTier === "string" ? { service_tier: serviceTier } : {};
}

function ofModel(metadata: unknown, model: UsedModel): Record<string, unknown> {
  const own = isRecord(metadata) ? metadata[providerName(model)] : undefined;
  return isRecord(own) ? own : {};
}

interface Counts {
  input: number | undefined;
  cached: number | undefined;
  cacheWrite: number | undefined;
  output: number | undefined;
  reasoning: number | undefined;
  total?: number | undefined;
}

function readNested({ inputTokens, outputTokens }: Record<string, unknown>): Counts {
  const input = isRecord(inputTokens) ? inputTokens : {};
  const output = isRecord(outputTokens) ? outputTokens : {};
  const [cached, cacheWrite, reasoning] = [input["cacheRead"], input["cacheWrite"], output["reasoning"]].map(count);
  return {
    input: count(input["total"]) ?? sumOf(count(input["noCache"]), cached, cacheWrite),
    cached,
    cacheWrite,
    output: count(output["total"]) ?? sumOf(count(output["text"]), reasoning),
    reasoning,
  };
}

/** @returns `undefined` where the first one is not known. */
function sumOf(first: number | undefined, ...others: readonly (number | undefined)[]): number | undefined {
  return first === undefined ? undefined : others.reduce<number>((sum, other) => sum + (other ?? 0), first);
}

function readFlat(usage: Record<string, unknown>, provider: string, metadata: unknown): Counts {
  const input = count(usage["inputTokens"]);
  const cached = count(usage["cachedInputTokens"]);
  const counts = {
    input,
    cached,
    cacheWrite: undefined,
    output: count(usage["outputTokens"]),
    reasoning: count(usage["reasoningTokens"]),
  };
  if (provider !== "anthropic" && provider !== "bedrock") return { ...counts, total: count(usage["totalTokens"]) };
  const own = isRecord(metadata) ? metadata[provider] : undefined;
  const cacheWrite = isRecord(own) ? count(own["cacheCreationInputTokens"]) : undefined;
  return { ...counts, cacheWrite, input: input === undefined ? undefined : input + (cached ?? 0) + (cacheWrite ?? 0) };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
