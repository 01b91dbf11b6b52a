import { isRecord } from "../../wire/is-record.js";
import { providerName } from "../ai-sdk-model.js";

/**
 * OpenAI's `usage` of the AI SDK's: nested from v3 on, flat before. Some models of v2 do not count in the input what
 * came from a cache, and went into it.
 *
 * @returns `undefined` where the model reports none.
 */
export function toUsage(
  usage: unknown,
  model: { readonly specificationVersion: string; readonly provider: string },
  metadata?: unknown,
): Record<string, unknown> | undefined {
  if (!isRecord(usage)) return undefined;
  const { input, cached, cacheWrite, output, reasoning, total } =
    model.specificationVersion === "v2" ? readFlat(usage, providerName(model), metadata) : readNested(usage);
  if (input === undefined && output === undefined) return undefined;
  const prompt = input ?? 0;
  // Google's response of v2 leaves the thoughts out, and counts them in the total.
  const completion = Math.max(output ?? 0, (total ?? 0) - prompt);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached ?? 0,
      ...(cacheWrite === undefined ? undefined : { cache_write_tokens: cacheWrite }),
    },
    completion_tokens_details: { reasoning_tokens: reasoning ?? 0 },
  };
}

interface Counts {
  input: number | undefined;
  cached: number | undefined;
  cacheWrite: number | undefined;
  output: number | undefined;
  reasoning: number | undefined;
  total?: number | undefined;
}

function readNested({ inputTokens, outputTokens }: Record<string, unknown>): Counts {
  const input = isRecord(inputTokens) ? inputTokens : {};
  const output = isRecord(outputTokens) ? outputTokens : {};
  return {
    input: count(input["total"]),
    cached: count(input["cacheRead"]),
    cacheWrite: count(input["cacheWrite"]),
    output: count(output["total"]),
    reasoning: count(output["reasoning"]),
  };
}

function readFlat(usage: Record<string, unknown>, provider: string, metadata: unknown): Counts {
  const input = count(usage["inputTokens"]);
  const cached = count(usage["cachedInputTokens"]);
  const counts = {
    input,
    cached,
    cacheWrite: undefined,
    output: count(usage["outputTokens"]),
    reasoning: count(usage["reasoningTokens"]),
  };
  if (provider !== "anthropic" && provider !== "bedrock") return { ...counts, total: count(usage["totalTokens"]) };
  const own = isRecord(metadata) ? metadata[provider] : undefined;
  const cacheWrite = isRecord(own) ? count(own["cacheCreationInputTokens"]) : undefined;
  return { ...counts, cacheWrite, input: input === undefined ? undefined : input + (cached ?? 0) + (cacheWrite ?? 0) };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
