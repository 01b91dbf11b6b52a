import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { aiSDK } from "../../src/ai-sdk.js";
import { describeUpstreamProvider } from "../../src/testing/describe-upstream-provider.js";

describeUpstreamProvider(
  "aiSDK",
  (baseURL) =>
    aiSDK({ model: (name) => createOpenAICompatible({ name: "fake", baseURL, includeUsage: true }).chatModel(name) }),
  { verbatim: false },
);
