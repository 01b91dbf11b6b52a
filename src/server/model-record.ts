import type { ModelType } from "../protocols/shared/model-type.js";

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

/** What goes in and what comes out, in OpenRouter's words. */
interface ModelArchitecture {
  readonly input_modalities: readonly string[];
  readonly output_modalities: readonly string[];
}

/** A verdict on a text is none of OpenRouter's modalities. */
const modalities: Readonly<Record<Exclude<ModelType, "moderation">, readonly [input: string, output: string]>> = {
  chat: ["text", "text"],
  completion: ["text", "text"],
  embedding: ["text", "embeddings"],
  rerank: ["text", "rerank"],
  image: ["text", "image"],
  speech: ["text", "speech"],
  transcription: ["audio", "transcription"],
};

/** What is known of a model by its type, and by the capability `vision`. */
function architectureOf(model: {
  readonly type: ModelType;
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
}): ModelArchitecture | undefined {
  if (model.type === "moderation") return undefined;
  const [input, output] = modalities[model.type];
  const seen = model.capabilities?.["vision"] === true ? ["image"] : [];
  return { input_modalities: [input, ...seen], output_modalities: [output] };
}
