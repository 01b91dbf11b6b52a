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
