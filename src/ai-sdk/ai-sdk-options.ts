import * as z from "zod";
import { explainOnce } from "../check/check-input.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import type { UpstreamOperation } from "../providers/upstream-provider.js";
import { requireAtOnce } from "../runtime/host-code.js";
import {
  type AISDKModel,
  type AISDKProviderOptions,
  findModelProblem,
  isEmbeddingModel,
  isImageModel,
  isLanguageModel,
  isRerankingModel,
  isSpeechModel,
  isTranscriptionModel,
} from "./ai-sdk-model.js";

/** What a `reasoning_effort` becomes for a model. */
export interface AISDKReasoning {
  /** Merged over those of {@link AISDKOptions.providerOptions}. */
  providerOptions?: AISDKProviderOptions | undefined;
  /** In place of the request's own cap, for providers that add the thinking to it. One above that cap is cut down to it. */
  maxOutputTokens?: number | undefined;
}

/** Options of `aiSDK`. */
export interface AISDKOptions {
  /**
   * A language, embedding, reranking, image, speech or transcription model of the AI SDK, specification v2, v3 or v4; or a
   * function from the name in the model's `upstream` to one, such as the provider itself: `anthropic`, or `(name) => google.embeddingModel(name)`.
   */
  model: AISDKModel | ((name: string) => AISDKModel);
  /**
   * Go with every call, by the provider's name, as in the AI SDK.
   * @default {}
   */
  providerOptions?: AISDKProviderOptions | undefined;
  /**
   * Go with every call, where the model reaches its server over HTTP.
   * @default {}
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Turns a request's `reasoning_effort` into settings of the model.
   * @default the specification's own setting from v4 on, but for Claude models with a thinking budget, which must be part of
   * the request's cap; before it, adaptive thinking or budgets for Anthropic, budgets for Bedrock, thinking levels or
   * budgets for Google, and `reasoningEffort` for all others
   */
  reasoning?: ((effort: string, request: { maxOutputTokens: number | undefined }) => AISDKReasoning) | undefined;
  /**
   * The default of the two timeouts below, in milliseconds. It limits silence, never the length of a response.
   * @default each one's own default
   */
  timeoutMs?: number | undefined;
  /**
   * How long the model may take until its response begins, in milliseconds. A whole response begins when all of it is
   * there.
   * @default 300_000
   */
  firstByteTimeoutMs?: number | undefined;
  /**
   * How long a response may pause in between, in milliseconds. Time in which the client is too slow does not count.
   * @default 300_000
   */
  idleTimeoutMs?: number | undefined;
}

/** The options, checked and with their defaults. */
export interface CheckedAISDKOptions extends Timeouts {
  /** @throws TypeError when there is no such model. */
  modelFor: (name: string) => AISDKModel;
  /** What the model can be asked for; of a function's models, what any model can. */
  operations: readonly UpstreamOperation[];
  providerOptions: AISDKProviderOptions;
  headers: Readonly<Record<string, string>>;
  reasoning: AISDKOptions["reasoning"];
}

export interface Timeouts {
  firstByteTimeoutMs: number;
  idleTimeoutMs: number;
}

const defaultTimeoutMs = 300_000;

// The longest that setTimeout can do.
const milliseconds = z.number().int("must be whole milliseconds").positive().max(2_147_483_647);

const optionsSchema = z.strictObject({
  model: z.custom<AISDKOptions["model"]>().superRefine((model, context) => {
    const problem = typeof model === "function" ? undefined : findModelProblem(model);
    if (problem) context.addIssue({ code: "custom", message: problem });
  }),
  providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  headers: z.record(z.string(), z.string({ error: "must be a string" })).default({}),
  reasoning: z
    .custom<NonNullable<AISDKOptions["reasoning"]>>((value) => typeof value === "function", "must be a function")
    .optional(),
  timeoutMs: milliseconds.optional(),
  firstByteTimeoutMs: milliseconds.optional(),
  idleTimeoutMs: milliseconds.optional(),
});

/** @throws TypeError that says what to correct, and never contains a header. */
export function checkAISDKOptions(options: AISDKOptions): CheckedAISDKOptions {
  const result = optionsSchema.safeParse(options, explainOnce("option"));
  if (!result.success) throw new TypeError(listProblems("aiSDK: the options are not valid", problemsOf(result.error)));
  const { model, providerOptions, headers, reasoning, timeoutMs, firstByteTimeoutMs, idleTimeoutMs } = result.data;
  return {
    modelFor:
      typeof model === "function" ? (name) => checkModel(requireAtOnce("aiSDK: `model`", model(name))) : () => model,
    operations: typeof model === "function" ? allOperations : operationsOf(model),
    providerOptions,
    headers,
    reasoning: reasoning && ((...asked) => requireAtOnce("aiSDK: `reasoning`", reasoning(...asked))),
    firstByteTimeoutMs: firstByteTimeoutMs ?? timeoutMs ?? defaultTimeoutMs,
    idleTimeoutMs: idleTimeoutMs ?? timeoutMs ?? defaultTimeoutMs,
  };
}

const kinds: readonly (readonly [operation: UpstreamOperation, isOf: (model: AISDKModel) => boolean])[] = [
  ["chat/completions", isLanguageModel],
  ["embeddings", isEmbeddingModel],
  ["rerank", isRerankingModel],
  ["images/generations", isImageModel],
  ["images/edits", (model) => isImageModel(model) && model.specificationVersion !== "v2"],
  ["audio/speech", isSpeechModel],
  ["audio/transcriptions", isTranscriptionModel],
];

/** What models of the AI SDK can be asked for. */
export const allOperations: readonly UpstreamOperation[] = kinds.map(([operation]) => operation);

/** What a model of its kind can be asked for. */
function operationsOf(model: AISDKModel): UpstreamOperation[] {
  return kinds.filter(([, isOf]) => isOf(model)).map(([operation]) => operation);
}

function checkModel(model: AISDKModel): AISDKModel {
  const problem = findModelProblem(model);
  if (problem !== undefined) throw new TypeError(`aiSDK: what \`model\` returned ${problem}.`);
  return model;
}
