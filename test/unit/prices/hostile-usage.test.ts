import fc from "fast-check";
import { expect, it } from "vitest";
import { compilePrice } from "../../../src/prices/compile-price.js";
import { messageTally, messageUsage } from "../../../src/protocols/messages/message-response.js";
import { readUsage } from "../../../src/protocols/shared/usage-object.js";
import { countNames, countPlaces } from "../../../src/protocols/shared/usage-report.js";
import { readReport, UsageTally } from "../../../src/protocols/shared/usage-tally.js";

const count = fc.oneof(
  fc.constantFrom<unknown>(0, -1, 0.5, 1e9, 1e9 + 1, 1e308, Number.POSITIVE_INFINITY, 2 ** 53, "5", null, [], {}, true),
  fc.nat(1000),
  fc.double(),
);
const members = [
  ...countNames.flatMap((name) => countPlaces[name].map((place) => place.at(-1) ?? "")),
  ...["prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens", "thinking_tokens"],
  ...["cache_read_input_tokens", "cache_creation_input_tokens", "cached_tokens", "cache_write_tokens"],
  ...["reasoning_tokens", "prompt_cache_hit_tokens", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"],
];
const counts = fc.dictionary(fc.constantFrom(...members), count);
const usage = fc
  .record({
    own: counts,
    prompt: counts,
    output: counts,
    caches: counts,
    iterations: fc.array(counts, { maxLength: 4 }),
  })
  .map(({ own, prompt, output, caches, iterations }) => ({
    ...own,
    ...{ prompt_tokens_details: prompt, input_tokens_details: prompt },
    ...{ completion_tokens_details: output, output_tokens_details: output },
    cache_creation: caches,
    iterations: iterations.map((iteration) => ({ ...iteration, cache_creation: caches })),
  }));

it("whatever an upstream reports, in however many pieces, is counted in parts of wholes, and has a price", () => {
  const prices = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15, reasoning: 20, request: 0.01 };
  const price = compilePrice(prices);
  fc.assert(
    fc.property(fc.array(usage, { minLength: 1, maxLength: 3 }), (pieces) => {
      const tallies = [messageTally(), new UsageTally()];
      for (const piece of pieces) {
        for (const tally of tallies) tally.add(piece);
        const { tokens: whole } = messageUsage(piece, [], { promptTokens: 5, outputCap: 10 });
        for (const tokens of [
          readUsage(piece),
          readReport(piece)?.tokens,
          whole,
          ...tallies.map(({ report }) => report?.tokens),
        ]) {
          if (tokens === undefined) continue;
          const { input, cachedInput, cacheWrite = 0, cacheWrite1h = 0, output, reasoning } = tokens;
          expect(cachedInput + cacheWrite).toBeLessThanOrEqual(input);
          expect(cacheWrite1h).toBeLessThanOrEqual(cacheWrite);
          expect(reasoning).toBeLessThanOrEqual(output);
          expect(price.cost(tokens)).toBeLessThanOrEqual(price.upperBound(input, output));
          expect(price.cost(tokens)).toBeGreaterThanOrEqual(10_000);
        }
      }
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 1000) },
  );
});
