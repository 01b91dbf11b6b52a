import { createCohere } from "@ai-sdk/cohere";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { allOperations } from "../../../src/ai-sdk/ai-sdk-options.js";
import { type AISDKModel, aiSDK } from "../../../src/ai-sdk.js";
import type { UpstreamOperation } from "../../../src/providers/upstream-provider.js";
import { describeUpstreamProvider } from "../../../src/testing/describe-upstream-provider.js";

describeUpstreamProvider(
  "aiSDK",
  (baseURL, operation) => aiSDK({ model: (name) => modelOf(baseURL, operation, name) }),
  {
    verbatim: false,
    operations: allOperations,
  },
);

function modelOf(baseURL: string, operation: UpstreamOperation, name: string): AISDKModel {
  const compatible = createOpenAICompatible({ name: "fake", baseURL, includeUsage: true });
  const openAI = createOpenAI({ baseURL, apiKey: "sk-upstream" });
  switch (operation) {
    case "embeddings":
      return compatible.textEmbeddingModel(name);
    case "images/generations":
    case "images/edits":
      return compatible.imageModel(name);
    case "rerank":
      return createCohere({ baseURL, apiKey: "sk-upstream" }).reranking(name);
    case "audio/speech":
      return openAI.speech(name);
    case "audio/transcriptions":
      return openAI.transcription(name);
    default:
      return compatible.chatModel(name);
  }
}
