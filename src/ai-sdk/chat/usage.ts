import { readReport } from "../../model-api/usage/usage-tally.js";
import { isRecord } from "../../wire/is-record.js";
import { providerName } from "../ai-sdk-model.js";

/**
 * OpenAI's `usage` of the AI SDK's: nested from v3 on, flat before. Some models of v2 do not count in the input what
 * came from a cache, and went into it.
 *
 * @returns `undefined` where the model reports none.
 */
export function toUsage(usage: unknown, model: UsedModel, metadata?: unknown): Record<string, unknown> | undefined {
  if (!isRecord(usage)) return undefined;
  const { input, cached, cacheWrite, output, reasoning, total } =
    model.specificationVersion === "v2" ? readFlat(usage, providerName(model), metadata) : readNested(usage);
  if (input === undefined && output === undefined) return undefined;
  // Google's response of v2 leaves the thoughts out, and counts them in the total.
  const completion = output === undefined || input === undefined ? output : Math.max(output, (total ?? 0) - input);
  const own = rawUsage(usage, model, metadata);
  const { inputAudio, outputAudio } = readReport(own)?.tokens ?? {};
  return {
    // A half that the model leaves out is estimated.
    ...(input !== undefined && { prompt_tokens: input }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(input !== undefined && completion !== undefined && { total_tokens: input + completion }),
    prompt_tokens_details: {
      cached_tokens: cached ?? 0,
      ...(cacheWrite === undefined ? undefined : { cache_write_tokens: cacheWrite }),
      ...(inputAudio !== undefined && { audio_tokens: inputAudio }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning ?? 0,
      ...(outputAudio !== undefined && { audio_tokens: outputAudio }),
    },
    // Anthropic's price of a write goes by how long it is kept.
    ...(isRecord(own["cache_creation"]) && { cache_creation: own["cache_creation"] }),
    ...tierOf(own, model, metadata),
  };
}

interface UsedModel {
  readonly specificationVersion: string;
  readonly provider: string;
}

/** The server's own report: from v3 on beside the counts, and of some providers in the metadata. */
function rawUsage(usage: Record<string, unknown>, model: UsedModel, metadata: unknown): Record<string, unknown> {
  const ofProvider = ofModel(metadata, model)["usage"];
  if (isRecord(ofProvider)) return ofProvider;
  return isRecord(usage["raw"]) ? usage["raw"] : {};
}

function tierOf(own: Record<string, unknown>, model: UsedModel, metadata: unknown): { service_tier?: string } {
  const { serviceTier = own["service_tier"] } = ofModel(metadata, model);
  return typeof serviceTier === "string" ? { service_tier: serviceTier } : {};
}

function ofModel(metadata: unknown, model: UsedModel): Record<string, unknown> {
  const own = isRecord(metadata) ? metadata[providerName(model)] : undefined;
  return isRecord(own) ? own : {};
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
  const [cached, cacheWrite, reasoning] = [input["cacheRead"], input["cacheWrite"], output["reasoning"]].map(count);
  return {
    input: count(input["total"]) ?? sumOf(count(input["noCache"]), cached, cacheWrite),
    cached,
    cacheWrite,
    output: count(output["total"]) ?? sumOf(count(output["text"]), reasoning),
    reasoning,
  };
}

/** @returns `undefined` where the first one is not known. */
function sumOf(first: number | undefined, ...others: readonly (number | undefined)[]): number | undefined {
  return first === undefined ? undefined : others.reduce<number>((sum, other) => sum + (other ?? 0), first);
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
