import { Buffer } from "node:buffer";
import { isRecord } from "../../wire/is-record.js";
import type { AISDKLanguageModel } from "../ai-sdk-model.js";
import { modelEndedInError } from "../error-answer.js";
import { toFinishReason } from "./finish-reason.js";
import { extraContent, type ReasoningDetail, signatureOf } from "./signatures.js";
import { toUsage } from "./usage.js";

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
