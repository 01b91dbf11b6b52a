import { isRecord } from "../wire/is-record.js";

/** What tells one model of the AI SDK from another. */
interface AnyAISDKModel {
  readonly specificationVersion: string;
  /** Such as `anthropic.messages` or `openai.speech`. */
  readonly provider: string;
  readonly modelId: string;
}

/** As much of an AI SDK language model as is used: one of specification v2, v3 or v4 (AI SDK 5, 6 and 7) fits. */
export interface AISDKLanguageModel extends AnyAISDKModel {
  /** By media type, the URLs that the model reads itself. */
  readonly supportedUrls: SupportedUrls | PromiseLike<SupportedUrls>;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<{ stream: ReadableStream<unknown> }>;
}

/** As much of an AI SDK embedding model as is used, of the same specifications. */
export interface AISDKEmbeddingModel extends AnyAISDKModel {
  readonly maxEmbeddingsPerCall: PromiseLike<number | undefined> | number | undefined;
  readonly supportsParallelCalls: PromiseLike<boolean> | boolean;
  doEmbed(options: never): PromiseLike<unknown>;
}

/** As much of an AI SDK reranking model as is used: those of specification v3 and v4 (AI SDK 6 and 7). */
export interface AISDKRerankingModel extends AnyAISDKModel {
  doRerank(options: never): PromiseLike<unknown>;
}

/** As much of an AI SDK image model as is used, of the same specifications as a language model. */
export interface AISDKImageModel extends AnyAISDKModel {
  /** `undefined`: one. */
  readonly maxImagesPerCall:
    | number
    | undefined
    | ((options: { modelId: string }) => PromiseLike<number | undefined> | number | undefined);
  doGenerate(options: never): PromiseLike<unknown>;
}

/** As much of an AI SDK speech model as is used, of the same specifications. */
export interface AISDKSpeechModel extends AnyAISDKModel {
  doGenerate(options: never): PromiseLike<unknown>;
}

/** As much of an AI SDK transcription model as is used, of the same specifications. */
export interface AISDKTranscriptionModel extends AnyAISDKModel {
  doGenerate(options: never): PromiseLike<unknown>;
}

/** What `aiSDK` makes a provider of. */
export type AISDKModel =
  | AISDKLanguageModel
  | AISDKEmbeddingModel
  | AISDKRerankingModel
  | AISDKImageModel
  | AISDKSpeechModel
  | AISDKTranscriptionModel;

export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

/** Settings that only some providers know, by the provider's name, as in the AI SDK's `providerOptions`. */
export type AISDKProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** v2 is AI SDK 5, v3 is 6, v4 is 7. */
const specifications: readonly string[] = ["v2", "v3", "v4"];

export function isLanguageModel(model: AISDKModel): model is AISDKLanguageModel {
  return has(model, "doGenerate") && has(model, "doStream");
}

export function isEmbeddingModel(model: AISDKModel): model is AISDKEmbeddingModel {
  return has(model, "doEmbed");
}

export function isRerankingModel(model: AISDKModel): model is AISDKRerankingModel {
  return has(model, "doRerank");
}

export function isImageModel(model: AISDKModel): model is AISDKImageModel {
  return has(model, "doGenerate") && "maxImagesPerCall" in model;
}

export function isSpeechModel(model: AISDKModel): model is AISDKSpeechModel {
  return isSoundModel(model) && !model.provider.endsWith(".transcription");
}

export function isTranscriptionModel(model: AISDKModel): model is AISDKTranscriptionModel {
  return isSoundModel(model) && !model.provider.endsWith(".speech");
}

/** Nothing but the provider's name tells a model that speaks from one that listens. */
function isSoundModel(model: AISDKModel): boolean {
  const isOther = ["doStream", "supportedUrls", "maxImagesPerCall", "maxVideosPerCall"].some((name) => name in model);
  return has(model, "doGenerate") && typeof model.provider === "string" && !isOther;
}

function has(model: object, method: string): boolean {
  return typeof (model as Record<string, unknown>)[method] === "function";
}

/** @returns what is wrong with it, as the end of a sentence. */
export function findModelProblem(model: unknown): string | undefined {
  if (typeof model === "string") {
    return 'is the name of a model: pass the model itself, such as anthropic("claude-sonnet-4-5")';
  }
  if (typeof model !== "object" || model === null) return "is no model of the AI SDK";
  if (!isWhole(model as AISDKModel)) {
    return "is neither a language model, nor an embedding, reranking, image, speech or transcription model of the AI SDK";
  }
  const { specificationVersion } = model as AISDKModel;
  if (specifications.includes(specificationVersion)) return undefined;
  return (
    `is of specification ${String(specificationVersion)}: supported are ${specifications.join(", ")}, ` +
    "those of AI SDK 5 to 7. Install a matching version of its provider package"
  );
}

function isWhole(model: AISDKModel): boolean {
  const isKnown = [isLanguageModel, isEmbeddingModel, isRerankingModel, isImageModel, isSoundModel];
  return isKnown.some((is) => is(model));
}

/** The name under which a model's provider looks for its own options. */
export function providerName({ provider }: { readonly provider: string }): string {
  if (provider.includes("anthropic")) return "anthropic";
  if (provider.includes("bedrock")) return "bedrock";
  if (provider.startsWith("google") || provider.includes("vertex")) return "google";
  if (provider.startsWith("azure")) return "openai";
  return provider.split(".")[0] ?? provider;
}

/** The headers with which a model calls its server, as far as it shows them: the models of the AI SDK's own packages do. */
export function modelHeaders(model: AISDKModel): Record<string, string> {
  const config: unknown = "config" in model ? model.config : undefined;
  if (!isRecord(config) || typeof config["headers"] !== "function") return {};
  try {
    const headers: unknown = config["headers"]();
    if (headers instanceof Promise) headers.catch(() => {});
    if (!isRecord(headers)) return {};
    return Object.fromEntries(
      Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  } catch {
    // A missing key, for instance: then there are no headers to hide.
    return {};
  }
}

/** Later ones win, setting by setting. */
export function mergeProviderOptions(...all: (AISDKProviderOptions | undefined)[]): AISDKProviderOptions | undefined {
  const merged: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const options of all) {
    for (const [name, settings] of Object.entries(options ?? {})) merged[name] = { ...merged[name], ...settings };
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

type Settings = Readonly<Record<string, unknown>>;

/**
 * Members that the specification has no word for, as provider options. OpenAI's models look for theirs under `openai`, whatever
 * their provider is called, and have names of their own; the models of others pass theirs on.
 */
export function mediaSettings(
  request: Settings,
  model: { readonly provider: string },
  names: readonly string[],
): AISDKProviderOptions {
  const own = Object.fromEntries(names.map((name) => [name, request[name]] as const).filter(isGiven));
  return { [providerName(model)]: own, openai: inCamelCase(own) };
}

/** The same for models that all have names of their own. */
export function camelSettings(settings: Settings, model: { readonly provider: string }): AISDKProviderOptions {
  const own = inCamelCase(settings);
  return { [providerName(model)]: own, openai: own };
}

function inCamelCase(settings: Settings): Settings {
  const given = Object.entries(settings).filter(isGiven);
  return Object.fromEntries(given.map(([name, value]) => [camelCase(name), value]));
}

function isGiven([, value]: readonly [string, unknown]): boolean {
  return value !== undefined && value !== null;
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
