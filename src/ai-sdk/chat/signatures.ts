import { isRecord } from "../../wire/is-record.js";
import type { Part } from "./prompt-parts.js";

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
