import type { ModelType } from "../operations/model-type.js";

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
export function architectureOf(model: {
  readonly type: ModelType;
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
}): ModelArchitecture | undefined {
  if (model.type === "moderation") return undefined;
  const [input, output] = modalities[model.type];
  const seen = model.capabilities?.["vision"] === true ? ["image"] : [];
  return { input_modalities: [input, ...seen], output_modalities: [output] };
}
