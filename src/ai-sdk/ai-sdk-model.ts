/** As much of an AI SDK language model as is used: one of specification v2, v3 or v4 (AI SDK 5, 6 and 7) fits. */
export interface AISDKLanguageModel {
  readonly specificationVersion: string;
  /** Such as `anthropic.messages`. */
  readonly provider: string;
  readonly modelId: string;
  /** By media type, the URLs that the model reads itself. */
  readonly supportedUrls: SupportedUrls | PromiseLike<SupportedUrls>;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<{ stream: ReadableStream<unknown> }>;
}

/** As much of an AI SDK embedding model as is used, of the same specifications. */
export interface AISDKEmbeddingModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: PromiseLike<number | undefined> | number | undefined;
  readonly supportsParallelCalls: PromiseLike<boolean> | boolean;
  doEmbed(options: never): PromiseLike<unknown>;
}

/** As much of an AI SDK reranking model as is used: those of specification v3 and v4 (AI SDK 6 and 7). */
export interface AISDKRerankingModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doRerank(options: never): PromiseLike<unknown>;
}

/** What `aiSDK` makes a provider of. */
export type AISDKModel = AISDKLanguageModel | AISDKEmbeddingModel | AISDKRerankingModel;

export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

/** Settings that only some providers know, by the provider's name, as in the AI SDK's `providerOptions`. */
export type AISDKProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** v2 is AI SDK 5, v3 is 6, v4 is 7. */
export const specifications: readonly string[] = ["v2", "v3", "v4"];

export function isLanguageModel(model: AISDKModel): model is AISDKLanguageModel {
  return "doGenerate" in model && typeof model.doGenerate === "function";
}

export function isRerankingModel(model: AISDKModel): model is AISDKRerankingModel {
  return "doRerank" in model && typeof model.doRerank === "function";
}

/** @returns what is wrong with it, as the end of a sentence. */
export function findModelProblem(model: unknown): string | undefined {
  if (typeof model === "string") {
    return 'is the name of a model: pass the model itself, such as anthropic("claude-sonnet-4-5")';
  }
  if (typeof model !== "object" || model === null) return "is no model of the AI SDK";
  const { specificationVersion, doGenerate, doStream, doEmbed, doRerank } = model as Record<string, unknown>;
  const isLanguage = typeof doGenerate === "function" && typeof doStream === "function";
  const isWhole = isLanguage || typeof doEmbed === "function" || typeof doRerank === "function";
  if (!isWhole) return "is neither a language model, nor an embedding or a reranking model of the AI SDK";
  if (specifications.includes(specificationVersion as string)) return undefined;
  return (
    `is of specification ${String(specificationVersion)}: supported are ${specifications.join(", ")}, ` +
    "those of AI SDK 5 to 7. Install a matching version of its provider package"
  );
}

/** The name under which a model's provider looks for its own options. */
export function providerName({ provider }: { readonly provider: string }): string {
  if (provider.includes("anthropic")) return "anthropic";
  if (provider.includes("bedrock")) return "bedrock";
  if (provider.startsWith("google") || provider.includes("vertex")) return "google";
  if (provider.startsWith("azure")) return "openai";
  return provider.split(".")[0] ?? provider;
}
