import { Buffer } from "node:buffer";
import { beyondTarget } from "../errors/refusal.js";
import { isOwnAccount } from "../protocols/shared/own-account.js";
import { readRetryAfter } from "../protocols/shared/retry-after.js";
import { countAt } from "../protocols/shared/usage-tally.js";
import { isRecord } from "../wire/is-record.js";
import { type AISDKEmbeddingModel, mergeProviderOptions, providerName } from "./ai-sdk-model.js";
import type { CheckedAISDKOptions } from "./ai-sdk-options.js";
import { toErrorResponse } from "./error-response.js";

/** Of a text, for what no model has counted. */
const bytesOfToken = 4;

/** Calls at once, for models that take less in one than a request may hold. */
const parallelCalls = 4;

/** The embeddings of texts; `tokens`: the model's count, where it reports one. */
interface Embedded {
  embeddings: unknown[];
  tokens: number | undefined;
}

/**
 * Serves an embeddings request with as many calls as the model wants it cut into. Of those calls, one that fails late is made
 * again by itself: the others are paid. Vectors of two models are never in one response.
 */
export async function embed(
  request: Record<string, unknown>,
  model: AISDKEmbeddingModel,
  options: CheckedAISDKOptions,
  signal: AbortSignal,
): Promise<Embedded> {
  const values = readValues(request["input"]);
  const callOptions = { ...toEmbedOptions(request["dimensions"], model, options), abortSignal: signal };
  const most = (await model.maxEmbeddingsPerCall) ?? values.length;
  const slices = slicesOf(values, Math.max(1, most));
  const width = (await model.supportsParallelCalls) ? parallelCalls : 1;
  const results = new Map<readonly string[], EmbeddedSlice>();
  const again = new SliceRetries(signal);
  const call = async (slice: readonly string[]): Promise<void> => {
    results.set(slice, readResult(await model.doEmbed({ ...callOptions, values: slice } as never), slice));
  };
  for (const group of slicesOf(slices, width)) {
    for (let missing = group; missing.length > 0; missing = missing.filter((slice) => !results.has(slice))) {
      // A model may ignore its signal. It is not called again for a client that has left.
      signal.throwIfAborted();
      const settled = await Promise.allSettled(missing.map(call));
      const failures = settled.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
      if (failures.length === 0) continue;
      // Where nothing is made, to call again or elsewhere loses nothing: that is the gateway's to decide.
      if (results.size > 0 && (await again.mayFollow(failures))) continue;
      if (results.size === 0 || signal.aborted) throw failures[0];
      const used = [...results.values()].reduce((sum, { tokens, estimate }) => sum + (tokens ?? estimate), 0);
      throw new PartlyEmbedded(failures[0], used);
    }
  }
  return embeddedOf(slices.flatMap((slice) => results.get(slice) ?? []));
}

function embeddedOf(results: readonly EmbeddedSlice[]): Embedded {
  return {
    embeddings: results.flatMap((result) => result.embeddings),
    tokens: results.reduce<number | undefined>(sumOf, 0),
  };
}

/** Some of the calls were made, and are paid for; a later one failed. */
export class PartlyEmbedded extends Error {
  /** What the failed call threw. */
  readonly thrown: unknown;
  /** The tokens of the others. */
  readonly used: number;

  constructor(thrown: unknown, used: number) {
    super("A part of the texts has its embeddings.");
    this.thrown = thrown;
    this.used = used;
  }
}

/** The body of an embeddings response. */
export function toEmbeddingList({ embeddings, tokens }: Embedded, model: string): Record<string, unknown> {
  return {
    object: "list",
    data: embeddings.map((embedding, index) => ({ object: "embedding", index, embedding })),
    model,
    ...(tokens === undefined ? undefined : { usage: embeddingUsage(tokens) }),
  };
}

export function embeddingUsage(tokens: number): Record<string, unknown> {
  return { prompt_tokens: tokens, total_tokens: tokens };
}

function readValues(input: unknown): string[] {
  const values: unknown[] = Array.isArray(input) ? input : [input];
  if (values.every((value) => typeof value === "string")) return values;
  throw beyondTarget("input", "This model takes a string or an array of strings as 'input', no tokens.");
}

/** From v4 on the specification has an option for the length of a vector. */
function toEmbedOptions(
  dimensions: unknown,
  model: AISDKEmbeddingModel,
  { headers, providerOptions }: CheckedAISDKOptions,
): Record<string, unknown> {
  const isNamed = model.specificationVersion !== "v2" && model.specificationVersion !== "v3";
  if (typeof dimensions !== "number") return { headers, providerOptions };
  if (isNamed) return { headers, providerOptions, dimensions };
  const name = providerName(model);
  const setting = name === "google" ? { outputDimensionality: dimensions } : { dimensions };
  return { headers, providerOptions: mergeProviderOptions({ [name]: setting }, providerOptions) };
}

/** Of one call. */
interface EmbeddedSlice extends Embedded {
  /** What it counts at the most where the model does not say. */
  readonly estimate: number;
}

function readResult(result: unknown, values: readonly string[]): EmbeddedSlice {
  if (!isRecord(result) || !Array.isArray(result["embeddings"]))
    throw new TypeError("The model's result has no embeddings.");
  const { usage } = result;
  return {
    embeddings: result["embeddings"],
    // No text is without tokens: zero is no count.
    tokens: (isRecord(usage) && countAt(usage, [["tokens"]])) || undefined,
    estimate: values.reduce((sum, value) => sum + Math.ceil(Buffer.byteLength(value) / bytesOfToken), 0),
  };
}

/** A sum is known when all its parts are. */
function sumOf(sum: number | undefined, { tokens }: Embedded): number | undefined {
  return sum === undefined || tokens === undefined ? undefined : sum + tokens;
}

function slicesOf<Item>(items: readonly Item[], length: number): Item[][] {
  const slices: Item[][] = [];
  for (let start = 0; start < items.length; start += length) slices.push(items.slice(start, start + length));
  return slices;
}

/** Of one request, all of its calls together. */
const mostRounds = 2;
const budgetMs = 10_000;
const firstPauseMs = 200;

/** Whether calls of a request that is served by several may be made again, and when. */
class SliceRetries {
  readonly #signal: AbortSignal;
  #rounds = 0;
  #leftMs = budgetMs;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Waits as long as the model asks, else by a back-off. @param failures - what the calls of one round threw. */
  async mayFollow(failures: readonly unknown[]): Promise<boolean> {
    if (this.#rounds === mostRounds || !failures.every(mayPass)) return false;
    const usualMs = firstPauseMs * 2 ** this.#rounds * (0.5 + Math.random() / 2);
    const waitMs = Math.max(...failures.map((failure) => askedMs(failure) ?? usualMs));
    if (waitMs > this.#leftMs) return false;
    this.#rounds++;
    this.#leftMs -= waitMs;
    await pause(waitMs, this.#signal);
    return !this.#signal.aborted;
  }
}

/** Whether the same call may succeed: its server is at its capacity, or has failed. */
function mayPass(failure: unknown): boolean {
  const { status = 0, error } = toErrorResponse(failure);
  const [type, code, message] = [error["type"], error["code"], error["message"]].map((said) => String(said ?? ""));
  const isPassing = status === 408 || status === 429 || status >= 500;
  return isPassing && !isOwnAccount({ type: type ?? "", code: code ?? "", message: message ?? "" });
}

function askedMs(failure: unknown): number | undefined {
  const seconds = readRetryAfter(toErrorResponse(failure).headers, Date.now());
  return seconds === undefined ? undefined : Math.max(0, seconds * 1000);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
