import { operationNames } from "../../../src/prices/operation-name.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { describeUpstreamProvider } from "../../../src/testing/describe-upstream-provider.js";

const options = { apiKey: "sk-upstream", operations: operationNames };
const proven = { operations: operationNames };

describeUpstreamProvider(
  "openAICompatible over undici",
  (baseURL) => openAICompatible({ baseURL, ...options }),
  proven,
);
describeUpstreamProvider(
  "openAICompatible over fetch",
  (baseURL) => openAICompatible({ baseURL, ...options, fetch: globalThis.fetch }),
  proven,
);
