import { afterEach, describe, expect, it } from "vitest";
import { reporting } from "./reporting.js";
import { allPairs, type Pair, type Spoken, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

const wrongNumbers = [-1, -1_000_000, 1e15, 1.5e300, 0.5, Number.MAX_SAFE_INTEGER, {}, { a: 1 }, [], [5], "5", true];

/** Reports with a wrong number in each place of each vendor's. */
const wrongUsage: Readonly<Record<Spoken, (wrong: unknown) => Record<string, unknown>[]>> = {
  "chat/completions": (wrong) => [
    { prompt_tokens: wrong, completion_tokens: 3, total_tokens: 12 },
    { prompt_tokens: 9, completion_tokens: wrong, total_tokens: 12 },
    { prompt_tokens: 9, completion_tokens: 3, total_tokens: wrong },
    { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, prompt_tokens_details: { cached_tokens: wrong } },
  ],
  responses: (wrong) => [
    { input_tokens: wrong, output_tokens: 3, total_tokens: 12 },
    { input_tokens: 9, output_tokens: wrong, total_tokens: 12 },
    { input_tokens: 9, output_tokens: 3, total_tokens: 12, output_tokens_details: { reasoning_tokens: wrong } },
  ],
  messages: (wrong) => [
    { input_tokens: wrong, output_tokens: 3 },
    { input_tokens: 9, output_tokens: wrong },
    { input_tokens: 9, output_tokens: 3, cache_read_input_tokens: wrong },
    { input_tokens: 9, output_tokens: 3, cache_creation: { ephemeral_1h_input_tokens: wrong } },
    { input_tokens: 9, output_tokens: 3, iterations: [{ type: "message", input_tokens: wrong, output_tokens: 3 }] },
  ],
};

function countsIn(text: string): number[] {
  return [...text.matchAll(/tokens":\s*([^,}]+)/g)].map(([, count]) => (count === "null" ? 0 : Number(count)));
}

describe.each(allPairs)("$client on $target", ({ client, target }) => {
  it.each([false, true])("gets no count that cannot be any (stream: %s)", async (stream) => {
    pair = await startPair(client, target);
    const options = client === "chat/completions" && stream ? { stream_options: { include_usage: true } } : {};
    for (const usage of wrongNumbers.flatMap(wrongUsage[target])) {
      pair.server.reply(reporting(target, usage));
      const response = await pair.post({ stream, ...options });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      const counts = countsIn(text);
      expect(counts.length, text).toBeGreaterThan(1);
      const wrong = counts.filter((count) => !Number.isInteger(count) || count < 0 || count > 1e9);
      expect(wrong, text).toEqual([]);
    }
  });
});
