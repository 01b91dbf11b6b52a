export { aiSDK } from "./ai-sdk/ai-sdk.js";
export type {
  AISDKEmbeddingModel,
  AISDKImageModel,
  AISDKLanguageModel,
  AISDKModel,
  AISDKProviderOptions,
  AISDKRerankingModel,
  AISDKSpeechModel,
  AISDKTranscriptionModel,
  SupportedUrls,
} from "./ai-sdk/ai-sdk-model.js";
export type { AISDKOptions, AISDKReasoning } from "./ai-sdk/ai-sdk-options.js";
