import type { Model } from "../../../../src/gateway/models/model.js";
import type { TokenCounts } from "../../../../src/prices/usage-counts.js";

/** Micro-credits a token. */
const price = { input: 3, cachedInput: 0.25, cacheWrite: 3.75, output: 15, reasoning: 20 };

/** The model of the documentation. */
export const agentModel: Model = {
  id: "acme/small",
  type: "chat",
  contextLength: 200_000,
  maxOutputTokens: 8000,
  capabilities: { tools: true, vision: true, reasoning: true },
  price,
  upstream: { provider: "scripted", model: "upstream-small" },
};

/** In micro-credits, by hand: each call is rounded up once. */
export function costOf({ input, cachedInput, cacheWrite = 0, output, reasoning }: TokenCounts): number {
  const prompt =
    (input - cachedInput - cacheWrite) * price.input + cachedInput * price.cachedInput + cacheWrite * price.cacheWrite;
  return Math.ceil(prompt + (output - reasoning) * price.output + reasoning * price.reasoning);
}
