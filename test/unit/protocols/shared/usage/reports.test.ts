import { describe, expect, it } from "vitest";
import { compilePrice } from "../../../../../src/prices/compile-price.js";
import { findReport, takeChoiceReports } from "../../../../../src/protocols/shared/usage-report.js";
import { readReport, UsageTally } from "../../../../../src/protocols/shared/usage-tally.js";

type Usage = Record<string, unknown>;
type Read = readonly [input: number, cached: number, written: number, output: number, reasoning: number];

/** What servers say, in their own words, and what it comes to. */
const reports: readonly (readonly [server: string, usage: Usage, read: Read])[] = [
  [
    "a cache beside the prompt, in the total",
    { prompt_tokens: 368, completion_tokens: 19, total_tokens: 10_923, cache_read_input_tokens: 10_536 },
    [10_904, 10_536, 0, 19, 0],
  ],
  [
    "the same, written as well",
    {
      ...{ prompt_tokens: 368, completion_tokens: 19, total_tokens: 11_023 },
      ...{ cache_read_input_tokens: 10_536, cache_creation_input_tokens: 100 },
    },
    [11_004, 10_536, 100, 19, 0],
  ],
  [
    "the same, with reasoning beside the completion",
    {
      ...{ prompt_tokens: 368, completion_tokens: 19, total_tokens: 10_973, cache_read_input_tokens: 10_536 },
      completion_tokens_details: { reasoning_tokens: 50 },
    },
    [10_904, 10_536, 0, 69, 50],
  ],
  [
    "the same, with reasoning that it does not name",
    { prompt_tokens: 368, completion_tokens: 19, total_tokens: 10_973, cache_read_input_tokens: 10_536 },
    [10_904, 10_536, 0, 69, 0],
  ],
  [
    "a cache beside the prompt, without a total",
    { prompt_tokens: 368, completion_tokens: 19, cache_read_input_tokens: 10_536 },
    [10_904, 10_536, 0, 19, 0],
  ],
  [
    "a cache beside the prompt, with a total that leaves it out",
    { prompt_tokens: 368, completion_tokens: 19, total_tokens: 387, cache_read_input_tokens: 10_536 },
    [10_904, 10_536, 0, 19, 0],
  ],
  [
    "a cache within the prompt, in Anthropic's words",
    { prompt_tokens: 10_904, completion_tokens: 19, total_tokens: 10_923, cache_read_input_tokens: 10_536 },
    [10_904, 10_536, 0, 19, 0],
  ],
  [
    "a cache in the words of both",
    {
      ...{ prompt_tokens: 10_904, completion_tokens: 19, total_tokens: 10_923, cache_read_input_tokens: 10_536 },
      prompt_tokens_details: { cached_tokens: 10_536 },
    },
    [10_904, 10_536, 0, 19, 0],
  ],
  [
    "a cache within the prompt, and thoughts that only the total counts",
    {
      ...{ prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1350 },
      prompt_tokens_details: { cached_tokens: 100 },
    },
    [1000, 100, 0, 350, 0],
  ],
  [
    "xAI",
    {
      ...{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 35 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    [10, 0, 0, 25, 20],
  ],
  [
    "Perplexity's deep research",
    {
      ...{ prompt_tokens: 33, completion_tokens: 7163, total_tokens: 7196 },
      ...{ citation_tokens: 20_016, num_search_queries: 18, reasoning_tokens: 73_997 },
    },
    [20_049, 0, 0, 81_160, 73_997],
  ],
  [
    "Moonshot",
    { prompt_tokens: 1336, completion_tokens: 31, total_tokens: 1367, cached_tokens: 1280 },
    [1336, 1280, 0, 31, 0],
  ],
  ["DeepSeek", { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 6 }, [10, 6, 0, 5, 0]],
  [
    "Mistral",
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, num_cached_tokens: 6, prompt_token_details: {} },
    [10, 6, 0, 5, 0],
  ],
  [
    "OpenAI's writes",
    { input_tokens: 2600, output_tokens: 9, input_tokens_details: { cached_tokens: 2000, cache_write_tokens: 400 } },
    [2600, 2000, 400, 9, 0],
  ],
  [
    "Gemini's own",
    {
      ...{ promptTokenCount: 100, cachedContentTokenCount: 40, candidatesTokenCount: 7, thoughtsTokenCount: 20 },
      ...{ toolUsePromptTokenCount: 11, totalTokenCount: 138 },
    },
    [111, 40, 0, 27, 20],
  ],
  [
    "Bedrock's Converse",
    { inputTokens: 10, outputTokens: 5, totalTokens: 75, cacheReadInputTokens: 50, cacheWriteInputTokens: 10 },
    [70, 50, 10, 5, 0],
  ],
  ["Ollama's own", { prompt_eval_count: 26, eval_count: 298 }, [26, 0, 0, 298, 0]],
  [
    "Ollama's own, with a cache",
    { prompt_eval_count: 5000, prompt_eval_cached_count: 4900, eval_count: 12 },
    [5000, 4900, 0, 12, 0],
  ],
  [
    "the AI SDK's words",
    {
      ...{ inputTokens: 22_044, outputTokens: 16, totalTokens: 22_060, cachedInputTokens: 21_888, reasoningTokens: 9 },
      inputTokenDetails: { noCacheTokens: 156, cacheReadTokens: 21_888, cacheWriteTokens: 50 },
    },
    [22_044, 21_888, 50, 16, 9],
  ],
  ["llama.cpp's timings", { prompt_n: 3, cache_n: 236, predicted_n: 35, predicted_ms: 661.064 }, [239, 236, 0, 35, 0]],
  ["Cohere", { tokens: { input_tokens: 10, output_tokens: 5 } }, [10, 0, 0, 5, 0]],
  [
    "a proxy that writes zeros under the names of the other API",
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, input_tokens: 0, output_tokens: 0 },
    [10, 0, 0, 5, 0],
  ],
  ["zeros first", { prompt_tokens: 0, completion_tokens: 0, input_tokens: 10, output_tokens: 5 }, [10, 0, 0, 5, 0]],
  ["a prompt that only the total counts", { completion_tokens: 19, total_tokens: 387 }, [368, 0, 0, 19, 0]],
  ["a prompt of zero", { prompt_tokens: 0, completion_tokens: 19, total_tokens: 387 }, [368, 0, 0, 19, 0]],
  ["a total below its parts", { prompt_tokens: 10, completion_tokens: 5, total_tokens: 2 }, [10, 0, 0, 5, 0]],
];

describe("a report", () => {
  it.each(reports)("of %s", (_server, usage, [input, cachedInput, cacheWrite, output, reasoning]) => {
    expect(readReport(usage)).toEqual({
      tokens: { input, cachedInput, output, reasoning, ...(cacheWrite > 0 && { cacheWrite }) },
      hasInput: true,
      hasOutput: true,
    });
  });

  it("takes what Mistral counts in the total alone for the audio that it heard", () => {
    const said = { prompt_audio_seconds: 203, prompt_tokens: 4, completion_tokens: 635, total_tokens: 3264 };
    expect(readReport(said)?.tokens).toEqual({
      ...{ input: 2629, cachedInput: 0, inputAudio: 2625, output: 635, reasoning: 0 },
    });
  });

  it("costs what the server bills: 368 at 3, 10,536 from the cache at 0.3, and 19 of output at 15", () => {
    const [, usage] = reports[0] ?? [];
    const price = compilePrice({ input: 3, cachedInput: 0.3, output: 15 });
    // 1,104 + 3,160.8 + 285 = 4,549.8
    expect(price.cost(readReport(usage)?.tokens ?? expect.fail())).toBe(4550);
  });

  it.each<[Usage, boolean, boolean]>([
    [{ prompt_tokens: 10 }, true, false],
    [{ completion_tokens: 10 }, false, true],
    [{ prompt_tokens: 10, completion_tokens: "5" }, true, false],
    [{ prompt_tokens: 10, completion_tokens: 0 }, true, true],
    [{ prompt_tokens: -1, completion_tokens: 3 }, false, true],
    [{ prompt_tokens: [10], completion_tokens: 3 }, false, true],
  ])("%j says which halves it has", (usage, hasInput, hasOutput) => {
    expect(readReport(usage)).toMatchObject({ hasInput, hasOutput });
  });

  it("tells audio from text, in the words of OpenAI and of Gemini", () => {
    expect(
      readReport({
        ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
        prompt_tokens_details: { audio_tokens: 80 },
        completion_tokens_details: { audio_tokens: 40, text_tokens: 10 },
      })?.tokens,
    ).toMatchObject({ input: 100, inputAudio: 80, output: 50, outputAudio: 40 });
    expect(
      readReport({
        ...{ promptTokenCount: 100, candidatesTokenCount: 50 },
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 20 },
          { modality: "AUDIO", tokenCount: 80 },
        ],
      })?.tokens,
    ).toMatchObject({ input: 100, inputAudio: 80 });
  });
});

describe("the pieces of a stream's report", () => {
  const read = (...pieces: Usage[]) => {
    const tally = new UsageTally();
    for (const piece of pieces) tally.add(piece);
    return tally.report;
  };

  it.each<[string, Usage[], [number, number]]>([
    ["in halves", [{ prompt_tokens: 10 }, { completion_tokens: 50 }], [10, 50]],
    [
      "zeros last",
      [
        { prompt_tokens: 10, completion_tokens: 50 },
        { prompt_tokens: 0, completion_tokens: 0 },
      ],
      [10, 50],
    ],
    ["growing", [1, 20, 50].map((output) => ({ prompt_tokens: 10, completion_tokens: output })), [10, 50]],
    [
      "with the total of an estimate",
      [
        { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 },
        { prompt_tokens: 50, completion_tokens: 9 },
      ],
      [50, 9],
    ],
    [
      "twice",
      Array.from({ length: 2 }, () => ({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })),
      [10, 5],
    ],
  ])("come %s", (_how, pieces, [input, output]) => {
    expect(read(...pieces)).toMatchObject({ tokens: { input, output }, hasInput: true, hasOutput: true });
  });
});

describe("where a report stands", () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2 };

  it.each<[string, Usage]>([
    ["the response", { usage }],
    ["Moonshot's choice", { choices: [{ index: 0, delta: {}, usage }] }],
    ["a delta", { choices: [{ index: 0, delta: { usage } }] }],
    ["a later choice, beside none", { usage: null, choices: [{ index: 0 }, { index: 1, usage }] }],
    ["Groq's own member", { x_groq: { usage } }],
    ["Gemini's own", { usageMetadata: usage }],
    ["Bedrock's own", { "amazon-bedrock-invocationMetrics": usage }],
    ["Cloudflare's envelope", { result: { usage } }],
    ["Cohere's own", { meta: { tokens: usage } }],
    ["llama.cpp's own", { timings: usage }],
  ])("is %s", (_where, said) => {
    expect(findReport(said)).toBe(usage);
  });

  it("is the response itself, of a server that has no object for it", () => {
    const said = { prompt_eval_count: 3, eval_count: 4 };
    expect(findReport(said)).toBe(said);
    expect(findReport({ choices: [], usage: null })).toBeUndefined();
  });

  it("is taken out of choices", () => {
    const choices = [{ index: 0, delta: { usage }, usage }];
    expect(takeChoiceReports(choices)).toBe(true);
    expect(choices).toEqual([{ index: 0, delta: {} }]);
    expect(takeChoiceReports(choices)).toBe(false);
  });
});

it("what is written to a cache for longer than minutes is told from the rest", () => {
  const prompt = { input_tokens: 1000, output_tokens: 5, total_tokens: 1005 };
  const details = (cache: object) => ({
    cached_tokens: 200,
    cache_write_tokens: 500,
    cache_write_tokens_details: cache,
  });
  const written = (cache: object) => readReport({ ...prompt, input_tokens_details: details(cache) })?.tokens;
  expect(written({ ttl_30m_tokens: 500, ttl_12h_tokens: 0 })).toMatchObject({ cachedInput: 200, cacheWrite: 500 });
  expect(written({ ttl_30m_tokens: 500, ttl_12h_tokens: 0 })).not.toHaveProperty("cacheWrite1h");
  expect(written({ ttl_30m_tokens: 100, ttl_12h_tokens: 400 })).toMatchObject({
    ...{ input: 1000, cachedInput: 200, cacheWrite: 500, cacheWrite1h: 400 },
  });
  // LiteLLM's.
  const own = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 500 };
  expect(
    readReport({ ...prompt, input_tokens_details: { cache_creation_tokens: 500, cache_creation_token_details: own } })
      ?.tokens,
  ).toMatchObject({ input: 1000, cacheWrite: 500, cacheWrite1h: 500 });
});
