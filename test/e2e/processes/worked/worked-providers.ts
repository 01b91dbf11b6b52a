import { anthropic, openAI, openAICompatible, type UpstreamProvider } from "../../../../src/index.js";
import type { Target } from "./worked-models.js";

/** One upstream, reached in each of the ways that the worked examples take. */
export function workedProviders(baseURL: string): Record<Target, UpstreamProvider> {
  const apiKey = "sk-upstream-secret";
  return {
    fake: openAICompatible({ baseURL }),
    anthropic: anthropic({ baseURL, apiKey }),
    openai: openAI({ baseURL, apiKey }),
  };
}
