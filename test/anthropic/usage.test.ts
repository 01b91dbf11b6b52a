import { describe, expect, it } from "vitest";
import { readMessagesUsage, toMessagesUsage, UsageTally } from "../../src/anthropic/usage.js";

describe("the usage of a message", () => {
  it.each([
    [{ input_tokens: 10, output_tokens: 5 }, [10, 0, 0, 5, 0]],
    [
      { input_tokens: 10, cache_read_input_tokens: 30, cache_creation_input_tokens: 5, output_tokens: 5 },
      [45, 30, 5, 5, 0],
    ],
    [
      {
        input_tokens: 1,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 },
        output_tokens: 1,
      },
      [6, 0, 5, 1, 0],
    ],
    [
      {
        input_tokens: 1,
        cache_creation_input_tokens: null,
        cache_creation: null,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
      },
      [1, 0, 0, 9, 4],
    ],
    [{ input_tokens: 1, output_tokens: 2, output_tokens_details: { thinking_tokens: 40 } }, [1, 0, 0, 2, 2]],
  ])("counts the whole prompt as input: %j", (usage, [input, cachedInput, cacheWrite, output, reasoning]) => {
    const counts = readMessagesUsage(usage);
    expect(counts).toEqual({
      input,
      cachedInput,
      ...(cacheWrite === 0 ? undefined : { cacheWrite }),
      output,
      reasoning,
    });
    expect(readMessagesUsage(toMessagesUsage(counts!))).toEqual(counts);
  });

  it.each([
    undefined,
    null,
    5,
    [],
    {},
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: 1e300 },
    { output_tokens: Number.NaN },
  ])("does not take %j for a report", (usage) => {
    expect(readMessagesUsage(usage)).toBeUndefined();
  });

  it("is never added up", () => {
    const tally = new UsageTally();
    tally.add({ input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 1 });
    tally.add({ input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 50 });
    tally.add({ output_tokens: 0 });
    expect(tally.counts).toMatchObject({ input: 40, cachedInput: 30, output: 50 });
  });

  it("is what was said last, where the beginning was an estimate", () => {
    const tally = new UsageTally();
    tally.add({ input_tokens: 100, cache_read_input_tokens: 0, output_tokens: 1 });
    tally.add({ input_tokens: 50, cache_read_input_tokens: 40, cache_creation_input_tokens: 0, output_tokens: 9 });
    expect(tally.counts).toEqual({ input: 90, cachedInput: 40, output: 9, reasoning: 0 });
  });

  it("never has less than nothing", () => {
    const usage = toMessagesUsage({ input: 5, cachedInput: 9, output: 1, reasoning: 0 });
    expect(usage).toEqual({
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 9,
      output_tokens: 1,
    });
  });
});
