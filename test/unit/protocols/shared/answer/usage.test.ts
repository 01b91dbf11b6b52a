import { describe, expect, it } from "vitest";
import { estimatePromptTokens } from "../../../../../src/protocols/shared/token-estimate.js";
import { readUsage } from "../../../../../src/protocols/shared/usage-object.js";

describe("readUsage", () => {
  it.each([
    [
      "OpenAI",
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      [10, 4, 5, 3],
    ],
    ["vLLM", { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: null }, [10, 0, 5, 0]],
    ["DeepSeek", { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 6 }, [10, 6, 5, 0]],
    [
      "xAI",
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      [10, 0, 25, 20],
    ],
    ["one without completion tokens", { prompt_tokens: 10, total_tokens: 15 }, [10, 0, 5, 0]],
    [
      "one with more cached than there are",
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 40 } },
      [10, 10, 5, 0],
    ],
    ["a prompt alone", { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 }, [10, 0, 0, 0]],
  ])("reads %s", (_name, usage, [input, cachedInput, output, reasoning]) => {
    expect(readUsage(usage)).toEqual({ input, cachedInput, output, reasoning });
  });

  it.each([
    undefined,
    null,
    5,
    [],
    {},
    { prompt_tokens: 3 },
    { completion_tokens: 3 },
    { prompt_tokens: 1e300, completion_tokens: 1 },
    { prompt_tokens: Number.NaN, completion_tokens: 1 },
  ])("does not take %j for a report", (usage) => {
    expect(readUsage(usage)).toBeUndefined();
  });
});

describe("estimatePromptTokens", () => {
  const tokensOf = (item: unknown) => estimatePromptTokens(Buffer.from(JSON.stringify(item)), true);

  it("counts an item's images by the piece, and what nothing bounds without an end", () => {
    const image = `data:image/png;base64,${"A".repeat(300_000)}`;
    expect(tokensOf({ image })).toBeGreaterThanOrEqual(48_169);
    expect(tokensOf([{ type: "image_url", image_url: { url: image } }, { image }])).toBeGreaterThanOrEqual(2 * 48_169);
    expect(tokensOf({ video: "https://video.test/1.mp4" })).toBe(Number.POSITIVE_INFINITY);
  });

  it("counts an item's text", () => {
    expect(tokensOf({ text: "a cat" })).toBeLessThan(20);
  });
});
