import type { Demand, ModelTraits } from "./operation.js";

/**
 * What is held for the output of one answer, and the most that it can have.
 * @param requested - the request's own cap, if it has one.
 * @param defaultOutputTokens - of the plan, for a request that caps nothing.
 */
export function outputBounds(
  requested: number | undefined,
  defaultOutputTokens: number,
  { contextLength, maxOutputTokens = contextLength }: ModelTraits,
): Pick<Demand, "outputTokens" | "outputCap"> {
  return {
    outputTokens: Math.min(requested ?? defaultOutputTokens, maxOutputTokens),
    outputCap: Math.min(requested ?? Number.POSITIVE_INFINITY, maxOutputTokens),
  };
}
