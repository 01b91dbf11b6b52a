import { readTokenCount } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";

/** A place in a usage report: the name of a member, or the name of an object in it and of a member of that. */
export type CountPlace = readonly [name: string] | readonly [holder: string, name: string];

/** What is read of a report. See the table of `docs/usage.md`, which says what each name is known from. */
export const countNames = [
  "prompt",
  "completion",
  "total",
  "cached",
  "cachedBeside",
  "written",
  "writtenBeside",
  "reasoning",
  "ownReasoning",
  "besidePrompt",
  "besideCompletion",
  "inputAudio",
  "cachedInputAudio",
  "outputAudio",
  "audioSeconds",
] as const;

/** A count that reports have. */
export type Counted = (typeof countNames)[number];

const inputDetails = ["prompt_tokens_details", "input_tokens_details", "prompt_token_details", "input_token_details"];
const outputDetails = ["completion_tokens_details", "output_tokens_details", "output_token_details"];

function within(holders: readonly string[], ...names: readonly string[]): CountPlace[] {
  return holders.flatMap((holder) => names.map((name): CountPlace => [holder, name]));
}

/**
 * Where reports have their counts. The first one that is a number above zero counts: some servers write a number under the
 * names of two APIs, and zeros under one of them.
 */
export const countPlaces: Readonly<Record<Counted, readonly CountPlace[]>> = {
  prompt: [
    ...named("prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "inputTokenCount", "promptTokens"),
    ...named("prompt_eval_count", "tokens_evaluated", "prompt_n"),
    ...within(["tokens", "billed_units"], "input_tokens"),
  ],
  completion: [
    ...named("completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens", "outputTokenCount"),
    ...named("responseTokenCount", "completionTokens", "eval_count", "tokens_predicted", "predicted_n"),
    ...within(["tokens", "billed_units"], "output_tokens"),
  ],
  total: named("total_tokens", "totalTokenCount", "totalTokens"),
  // These are parts of the prompt's.
  cached: [
    ...within(inputDetails, "cached_tokens"),
    ...named("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens", "cachedContentTokenCount"),
    ...named("cachedInputTokens", "prompt_eval_cached_count"),
    ["inputTokenDetails", "cacheReadTokens"],
  ],
  written: [
    ...within(inputDetails, "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens"),
    ["inputTokenDetails", "cacheWriteTokens"],
  ],
  // These stand beside the prompt's where the report does not show that they are parts of it.
  cachedBeside: named("cache_read_input_tokens", "cacheReadInputTokens", "cacheReadInputTokenCount", "cache_n"),
  writtenBeside: named("cache_creation_input_tokens", "cacheWriteInputTokens", "cacheWriteInputTokenCount"),
  reasoning: [
    ...within(outputDetails, "reasoning_tokens", "thinking_tokens"),
    ...named("thoughtsTokenCount", "reasoningTokens"),
  ],
  // Perplexity's: it stands beside the completion's where it is more.
  ownReasoning: named("reasoning_tokens"),
  // What no name of a prompt or a completion counts, and is billed as one.
  besidePrompt: named("citation_tokens", "toolUsePromptTokenCount"),
  besideCompletion: named("thoughtsTokenCount"),
  inputAudio: within(inputDetails, "audio_tokens"),
  cachedInputAudio: [],
  outputAudio: within(outputDetails, "audio_tokens"),
  // Mistral's: the audio's tokens are in the total alone.
  audioSeconds: named("prompt_audio_seconds"),
};

function named(...names: readonly string[]): CountPlace[] {
  return names.map((name): CountPlace => [name]);
}

/** What reports of images and of audio have beside it: parts of the prompt, and of the output. */
export const partPlaces = {
  inputText: within(inputDetails, "text_tokens"),
  inputImage: within(inputDetails, "image_tokens"),
  outputText: within(outputDetails, "text_tokens"),
  outputImage: within(outputDetails, "image_tokens"),
} as const satisfies Readonly<Record<string, readonly CountPlace[]>>;

/** Where it stands how long what was written to a cache is kept: Anthropic's, Qwen's, OpenAI's and LiteLLM's. */
export const cacheTimes: readonly CountPlace[] = [
  ["cache_creation"],
  ...within(inputDetails, "cache_creation", "cache_write_tokens_details", "cache_creation_token_details"),
];

/** What of it is kept for minutes. */
export const cachedForMinutes: readonly string[] = ["ephemeral_5m_input_tokens", "ttl_30m_tokens"];

/** Gemini's details: lists of `{ modality, tokenCount }`. */
export const modalityLists: readonly (readonly [list: string, part: Counted])[] = [
  ["promptTokensDetails", "inputAudio"],
  ["cacheTokensDetails", "cachedInputAudio"],
  ["candidatesTokensDetails", "outputAudio"],
];

/** Where a report stands in a response, or in a chunk, that has no `usage` of its own. */
const reportPlaces: readonly CountPlace[] = [
  ["x_groq", "usage"],
  ["usageMetadata"],
  ["usage_metadata"],
  ["amazon-bedrock-invocationMetrics"],
  ["result", "usage"],
  ["data", "usage"],
  ["meta", "tokens"],
  ["meta", "billed_units"],
  ["timings"],
];

/** Servers whose response itself is the report: Ollama's and llama.cpp's own, by a member that they have. */
const ownCounts = ["eval_count", "tokens_predicted"];

/**
 * Where a response, or a chunk of one, says what it took: in its `usage`, in that of its first choice that has one, or
 * elsewhere.
 * @returns `undefined` where it does not say.
 */
export function findReport(said: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const { usage, choices } = said;
  if (isRecord(usage)) return usage;
  return (Array.isArray(choices) ? reportOfChoice(choices) : undefined) ?? reportElsewhere(said);
}

/** Moonshot's last chunk has it in its choice. */
function reportOfChoice(choices: readonly unknown[]): Record<string, unknown> | undefined {
  for (const choice of choices) {
    if (!isRecord(choice)) continue;
    for (const holder of holdersIn(choice)) {
      if (isRecord(holder) && isRecord(holder["usage"])) return holder["usage"];
    }
  }
  return undefined;
}

/** What of a choice may have a report. */
function holdersIn(choice: Record<string, unknown>): readonly unknown[] {
  return [choice, choice["delta"], choice["message"]];
}

function reportElsewhere(said: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  for (const [holder, name] of reportPlaces) {
    const held = said[holder];
    const report = name === undefined ? held : isRecord(held) ? held[name] : undefined;
    if (isRecord(report)) return report;
  }
  return ownCounts.some((name) => typeof said[name] === "number") ? said : undefined;
}

/**
 * Takes reports out of choices, in place: clients look for them in the `usage`, and get none that they did not ask for.
 * @returns whether there was one.
 */
export function takeChoiceReports(choices: readonly unknown[]): boolean {
  let isTaken = false;
  for (const choice of choices) {
    if (!isRecord(choice)) continue;
    for (const holder of holdersIn(choice)) {
      if (!isRecord(holder) || holder["usage"] === undefined || holder["usage"] === null) continue;
      delete holder["usage"];
      isTaken = true;
    }
  }
  return isTaken;
}

/** Calls of the model that the response names, at its prices. */
const ofModel: ReadonlySet<unknown> = new Set(["message", "compaction"]);

/** What a name is shown as that could be anything. */
const plainName = /^\w{1,64}$/;

/** Of Anthropic and OpenRouter, and of xAI: the tools that the server has run, and how often. */
const toolCounts = ["server_tool_use", "server_side_tool_usage_details"];

/** Of Perplexity and xAI: what a search takes. */
const searchCounts = ["num_search_queries", "num_sources_used"];

/**
 * The first thing in a `usage` that no price of the model is for: a tool that the server has run, such as
 * `web_search_requests`, or a call of another model, such as `advisor_message`.
 */
export function unpricedUsage(usage: Record<string, unknown>): string | undefined {
  for (const holder of toolCounts) {
    const tools = usage[holder];
    if (!isRecord(tools)) continue;
    const used = Object.keys(tools).find((name) => isSome(tools[name]));
    if (used !== undefined) return shown(used);
  }
  const searched = searchCounts.find((name) => isSome(usage[name]));
  if (searched !== undefined) return searched;
  const { iterations } = usage;
  if (!Array.isArray(iterations)) return undefined;
  const other: unknown = iterations.find((one) => isRecord(one) && !ofModel.has(one["type"] ?? "message"));
  return isRecord(other) ? shown(other["type"]) : undefined;
}

function isSome(count: unknown): boolean {
  return (readTokenCount(count) ?? 0) > 0;
}

function shown(name: unknown): string {
  return typeof name === "string" && plainName.test(name) ? name : "unknown";
}
