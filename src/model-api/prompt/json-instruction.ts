import { textTokens } from "../../tokens/text-tokens.js";
import { isRecord } from "../../wire/is-record.js";
import type { Span } from "./message-outline.js";

const plain = "Answer with one JSON object and nothing else: no text before or after it, no code fence.";

/**
 * What a model is told whose server has no JSON mode, or none for this format. It stands behind the client's own
 * instructions.
 * @param schema - of the object; anything but an object is none.
 */
export function jsonInstruction(schema?: unknown): string {
  return isRecord(schema) ? `${plain} It must match this JSON schema:\n${JSON.stringify(schema)}` : plain;
}

/** More than the words of it, and what templates put around a text. */
const plainTokens = 64;

/**
 * The most tokens by which {@link jsonInstruction} makes a prompt longer.
 * @param format - the value that asks for JSON.
 * @param repeatsSchema - whether some target may be told the schema beside getting it.
 */
export function jsonInstructionTokens(body: Uint8Array, format: Span | undefined, repeatsSchema: boolean): number {
  if (format === undefined || body[format.start] !== 0x7b) return 0;
  return plainTokens + (repeatsSchema ? textTokens(body.subarray(format.start, format.end), true) : 0);
}
