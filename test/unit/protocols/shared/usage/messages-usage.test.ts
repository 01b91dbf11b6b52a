import { describe, expect, it } from "vitest";
import { messageTally, toMessagesUsage } from "../../../../../src/protocols/messages/message-response.js";
import { readReport } from "../../../../../src/protocols/shared/usage-tally.js";

const readMessagesUsage = (usage: unknown) => readReport(usage, true)?.tokens;

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
      [6, 0, 5, 1, 0, 3],
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
  ])(
    "counts the whole prompt as input: %j",
    (usage, [input, cachedInput, cacheWrite, output, reasoning, cacheWrite1h]) => {
      const counts = readMessagesUsage(usage);
      expect(counts).toEqual({
        input,
        cachedInput,
        ...(cacheWrite === 0 ? undefined : { cacheWrite }),
        ...(cacheWrite1h === undefined ? undefined : { cacheWrite1h }),
        output,
        reasoning,
      });
      expect(readMessagesUsage(toMessagesUsage(counts!))).toEqual(counts);
    },
  );

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
    const tally = messageTally();
    tally.add({ input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 1 });
    tally.add({ input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 50 });
    tally.add({ output_tokens: 0 });
    expect(tally.report?.tokens).toMatchObject({ input: 40, cachedInput: 30, output: 50 });
  });

  it("is what was said last, where the beginning was an estimate", () => {
    const tally = messageTally();
    tally.add({ input_tokens: 100, cache_read_input_tokens: 0, output_tokens: 1 });
    tally.add({ input_tokens: 50, cache_read_input_tokens: 40, cache_creation_input_tokens: 0, output_tokens: 9 });
    expect(tally.report?.tokens).toEqual({ input: 90, cachedInput: 40, output: 9, reasoning: 0 });
  });

  it.each([
    [300, 9700],
    [0, 10_000],
  ])(
    "is not the whole prompt beside its caches, where its end says %i and %i",
    (input_tokens, cache_read_input_tokens) => {
      const tally = messageTally();
      tally.add({ input_tokens: 10_000, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 1 });
      tally.add({ input_tokens, cache_read_input_tokens, cache_creation_input_tokens: 0, output_tokens: 20 });
      expect(tally.report?.tokens).toMatchObject({ input: 10_000, cachedInput: cache_read_input_tokens, output: 20 });
    },
  );

  it("keeps what stands beside caches, where a zero at its end is no count", () => {
    const tally = messageTally();
    tally.add({ input_tokens: 300, output_tokens: 1 });
    tally.add({ input_tokens: 0, cache_read_input_tokens: 9700, output_tokens: 20 });
    expect(tally.report?.tokens).toMatchObject({ input: 10_000, cachedInput: 9700 });
  });

  it("counts all iterations, of which a compaction stands nowhere else", () => {
    const iterations = [
      { type: "compaction", input_tokens: 180_000, output_tokens: 3500 },
      { type: "message", input_tokens: 23_000, output_tokens: 1000 },
    ];
    const usage = { input_tokens: 23_000, output_tokens: 1000, iterations };
    expect(readMessagesUsage(usage)).toEqual({ input: 203_000, cachedInput: 0, output: 4500, reasoning: 0 });
  });

  it("reads 1,024 iterations, and no more", () => {
    const iterations = new Array(300_000).fill({ type: "message", input_tokens: 1, output_tokens: 1 });
    expect(readMessagesUsage({ input_tokens: 1, output_tokens: 2, iterations })).toMatchObject({
      input: 1024,
      output: 1024,
    });
  });

  it("counts the caches of iterations, too, and never less than the whole says", () => {
    const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 70 };
    const iterations = [
      {
        type: "message",
        input_tokens: 2,
        cache_read_input_tokens: 500,
        cache_creation_input_tokens: 30,
        output_tokens: 5,
      },
      { type: "compaction", input_tokens: 1, cache_creation_input_tokens: 70, cache_creation, output_tokens: 6 },
      null,
      "x",
    ];
    const usage = { input_tokens: 9, cache_read_input_tokens: 500, output_tokens: 5, iterations };
    expect(readMessagesUsage(usage)).toEqual({
      input: 9 + 500 + 100,
      cachedInput: 500,
      cacheWrite: 100,
      cacheWrite1h: 70,
      output: 11,
      reasoning: 0,
    });
  });

  it.each([null, [], {}, 5, [{}], [{ input_tokens: "5" }]])("takes %j for no iterations", (iterations) => {
    expect(readMessagesUsage({ input_tokens: 1, output_tokens: 2, iterations })).toMatchObject({ input: 1, output: 2 });
  });

  it("keeps what a stream began with, where its end says no more of the times", () => {
    const tally = messageTally();
    const cache_creation = { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 90 };
    tally.add({ input_tokens: 5, cache_creation_input_tokens: 100, cache_creation, output_tokens: 1 });
    tally.add({ input_tokens: 5, cache_creation_input_tokens: 100, output_tokens: 7 });
    expect(tally.report?.tokens).toMatchObject({ input: 105, cacheWrite: 100, cacheWrite1h: 90, output: 7 });
  });

  it("takes what is written later for an hour's, too, where some of the beginning was", () => {
    const tally = messageTally();
    const cache_creation = { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 90 };
    tally.add({ input_tokens: 5, cache_creation_input_tokens: 100, cache_creation, output_tokens: 1 });
    tally.add({ input_tokens: 5, cache_creation_input_tokens: 700, output_tokens: 7 });
    expect(tally.report?.tokens).toMatchObject({ input: 705, cacheWrite: 700, cacheWrite1h: 690 });
  });

  it("takes writes of an unknown time for those of an hour, where there are any", () => {
    const cache_creation = { ephemeral_5m_input_tokens: 10, ephemeral_24h_input_tokens: 20 };
    expect(readMessagesUsage({ cache_creation_input_tokens: 50, cache_creation, output_tokens: 1 })).toMatchObject({
      cacheWrite: 50,
      cacheWrite1h: 40,
    });
  });

  it.each([
    [{ server_tool_use: { web_search_requests: 0, web_fetch_requests: 2 } }, "web_fetch_requests"],
    [{ iterations: [{ type: "message" }, { type: "advisor_message", input_tokens: 1 }] }, "advisor_message"],
    [{ iterations: [{ type: "<b>" }] }, "unknown"],
    [{ server_tool_use: { web_search_requests: 0 }, iterations: [{ type: "compaction" }, {}] }, undefined],
    [{ server_tool_use: null, iterations: null }, undefined],
    [{ num_search_queries: 18 }, "num_search_queries"],
    [{ num_sources_used: 3 }, "num_sources_used"],
    [{ server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 0 } }, "web_search_calls"],
    [
      { num_search_queries: 0, num_sources_used: 0, server_side_tool_usage_details: { web_search_calls: 0 } },
      undefined,
    ],
  ])("says what has no price: %j", (usage, unpriced) => {
    const tally = messageTally();
    tally.add(usage);
    expect(tally.unpriced).toBe(unpriced);
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
