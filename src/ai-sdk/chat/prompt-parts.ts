import { invalidType, invalidValue } from "../../errors/gateway-error.js";
import { isRecord } from "../../wire/is-record.js";

/** A part of a message, as the AI SDK has it. */
export type Part = { type: string } & Record<string, unknown>;

/** Content that can only be text: a string, or parts of text. */
export function textOf(content: unknown, param: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidType(param, "a string or an array of parts");
  return content.map((part, index) => readText(part, `${param}[${index}]`)).join("");
}

export function textPart(part: Record<string, unknown>, param: string): Part {
  return { type: "text", text: readText(part, param), ...cacheOptions(part) };
}

function readText(part: unknown, param: string): string {
  if (!isRecord(part)) throw invalidType(param, "an object");
  const text = part["type"] === "refusal" ? part["refusal"] : part["text"];
  if (part["type"] !== "text" && part["type"] !== "refusal") {
    throw invalidValue(`${param}.type`, "Only parts of type 'text' can stand here.");
  }
  if (typeof text !== "string") throw invalidType(`${param}.text`, "a string");
  return text;
}

/** Anthropic's mark of where a cached prompt ends, which its clients put into parts of OpenAI's format, too. */
export function cacheOptions(part: unknown): { providerOptions?: Record<string, Record<string, unknown>> } {
  const control = isRecord(part) ? part["cache_control"] : undefined;
  return isRecord(control) ? { providerOptions: { anthropic: { cacheControl: control } } } : {};
}

/**
 * Models that think want their thoughts back, with the signatures under them, while tools are called. On OpenAI's wire
 * they travel as others send them, too: an Anthropic thought in `reasoning_details`, a Google signature in the
 * `extra_content` of a tool call.
 */

/** An item of `reasoning_details`. */
export type ReasoningDetail =
  | { type: "reasoning.text"; index: number; text?: string; signature?: string }
  | { type: "reasoning.encrypted"; index: number; data: string };

type Metadata = Record<string, unknown> | undefined;

/** The signature under a thought, whoever gave it. */
export function signatureOf(metadata: unknown): { signature?: string; data?: string } {
  for (const settings of settingsOf(metadata)) {
    const signature = settings["signature"] ?? settings["thoughtSignature"];
    if (typeof signature === "string") return { signature };
    if (typeof settings["redactedData"] === "string") return { data: settings["redactedData"] };
  }
  return {};
}

/** What a tool call carries beside its arguments. */
export function extraContent(metadata: unknown): { extra_content?: Record<string, unknown> } {
  for (const settings of settingsOf(metadata)) {
    const signature = settings["thoughtSignature"];
    if (typeof signature === "string") return { extra_content: { google: { thought_signature: signature } } };
  }
  return {};
}

/** The thoughts of an earlier turn, where the provider can read them. */
export function historyReasoning(message: Record<string, unknown>, provider: string): Part[] {
  const details = message["reasoning_details"];
  const signed = Array.isArray(details) ? details.flatMap((detail) => toReasoningPart(detail, provider)) : [];
  if (signed.length > 0) return signed;
  // These take no thought without its signature.
  if (provider === "anthropic" || provider === "bedrock" || provider === "google") return [];
  const text = message["reasoning_content"] ?? message["reasoning"];
  return typeof text === "string" && text !== "" ? [{ type: "reasoning", text }] : [];
}

export function historySignature(call: Record<string, unknown>, provider: string): { providerOptions?: Metadata } {
  const extra = call["extra_content"];
  const google = isRecord(extra) ? extra["google"] : undefined;
  const signature = isRecord(google) ? google["thought_signature"] : undefined;
  if (provider !== "google" || typeof signature !== "string") return {};
  return { providerOptions: { google: { thoughtSignature: signature } } };
}

function toReasoningPart(detail: unknown, provider: string): Part[] {
  if (!isRecord(detail)) return [];
  const { type, text, signature, data } = detail;
  if (type === "reasoning.encrypted" && typeof data === "string" && provider !== "google") {
    return [{ type: "reasoning", text: "", providerOptions: { [provider]: { redactedData: data } } }];
  }
  if (type !== "reasoning.text" || typeof signature !== "string") return [];
  const name = provider === "google" ? "thoughtSignature" : "signature";
  return [
    {
      type: "reasoning",
      text: typeof text === "string" ? text : "",
      providerOptions: { [provider]: { [name]: signature } },
    },
  ];
}

function settingsOf(metadata: unknown): Record<string, unknown>[] {
  return isRecord(metadata) ? Object.values(metadata).filter(isRecord) : [];
}
