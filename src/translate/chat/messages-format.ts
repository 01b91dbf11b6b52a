import { schemaModeOf } from "../../anthropic/claude-schemas.js";
import { jsonInstruction } from "../../model-api/prompt/json-instruction.js";
import { isRecord } from "../../wire/is-record.js";

/** What a request for a message says of the form of its answer. */
export interface MessagesFormat {
  /** A member of `output_config`. */
  readonly format?: Record<string, unknown>;
  /** A further text of the system prompt. */
  readonly instruction?: string;
}

/**
 * A `response_format` of chat completions for a server of Messages. These have no JSON mode without a schema, and not all
 * of them have one with it.
 * @param model - the upstream's name for it.
 */
export function messagesFormat(format: unknown, model: string): MessagesFormat {
  if (!isRecord(format)) return {};
  const { type, json_schema: described, schema: own } = format;
  // The second one is llama.cpp's.
  const schema = isRecord(described) ? described["schema"] : own;
  if (type !== "json_schema" || !isRecord(schema)) {
    return type === "json_object" || type === "json_schema" ? { instruction: jsonInstruction(schema) } : {};
  }
  const mode = schemaModeOf(model);
  return {
    ...(mode !== "told" && { format: { type: "json_schema", schema } }),
    ...(mode !== "enforced" && { instruction: jsonInstruction(schema) }),
  };
}
