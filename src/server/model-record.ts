import type { ModelType } from "../operations/model-type.js";
import { architectureOf } from "./model-architecture.js";

/** `created` must not change from call to call, and a catalog in code has no date. So it is always 2026-01-01. */
const created = 1_767_225_600;

/** What a model record is made of. */
export interface ModelRecordInput {
  /** Its own, or an alias. */
  id: string;
  /** The id that an alias stands for. */
  aliasOf?: string | undefined;
  type: ModelType;
  publisher?: string | undefined;
  contextLength?: number | undefined;
  maxOutputTokens?: number | undefined;
  capabilities?: Readonly<Record<string, unknown>> | undefined;
  extra?: Readonly<Record<string, unknown>> | undefined;
}

/** Members that `extra` cannot set. */
export const reservedRecordMembers: readonly string[] = [
  "id",
  "alias_of",
  "object",
  "type",
  "publisher",
  "context_length",
  "max_output_tokens",
  "capabilities",
];

/** The model record as JSON text: OpenAI's members, infergate's, those that other servers' clients read, and `extra`. */
export function modelRecord(model: ModelRecordInput): string {
  const displayName = model.extra?.["display_name"];
  return JSON.stringify({
    id: model.id,
    object: "model",
    created,
    owned_by: model.publisher ?? "infergate",
    type: model.type,
    publisher: model.publisher,
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    capabilities: model.capabilities ?? {},
    alias_of: model.aliasOf,
    // Clients of OpenRouter want a text, never null.
    name: typeof displayName === "string" ? displayName : model.id,
    architecture: architectureOf(model),
    // vLLM's name for the context, which tools of evaluation read.
    max_model_len: model.contextLength,
    ...model.extra,
  });
}
