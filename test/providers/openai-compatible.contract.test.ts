import { openAICompatible } from "../../src/providers/openai-compatible.js";
import { describeUpstreamProvider } from "../../src/testing/describe-upstream-provider.js";

describeUpstreamProvider("openAICompatible over undici", (baseURL) =>
  openAICompatible({ baseURL, apiKey: "sk-upstream" }),
);
describeUpstreamProvider("openAICompatible over fetch", (baseURL) =>
  openAICompatible({ baseURL, apiKey: "sk-upstream", fetch: globalThis.fetch }),
);
