import type { Model } from "../../../../src/gateway/models/model.js";

/** The longest output of a model of the worked examples, in tokens. */
export const mostOutput = 64_000;

/** The providers of the gateways in other processes, by what they speak: chat completions, Messages alone, Responses. */
export const targets = ["fake", "anthropic", "openai"] as const;
export type Target = (typeof targets)[number];

/** In credits per million tokens of output. Input is free. */
export const prices = [10, 4_000] as const;

export function workedModel(target: Target, price: (typeof prices)[number]): Model {
  return {
    id: `${target}/for-${price}`,
    type: "chat",
    contextLength: 200_000,
    maxOutputTokens: mostOutput,
    price: { input: 0, output: price },
    upstream: { provider: target, model: "upstream-small" },
  };
}

/** The models of the worked examples of docs/credits.md, at each kind of target. */
export const workedModels = targets.flatMap((target) => prices.map((price) => workedModel(target, price)));
