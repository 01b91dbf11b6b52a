import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePrice } from "../../../src/prices/compile-price.js";
import { scaledPrice } from "../../../src/prices/compiled-price.js";

const none = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };

describe("a price times a factor", () => {
  it("is rounded up once for each call, with the factor in it", () => {
    // 3 tokens at 0.15 are 0.45 micro-credits, and 0.36 at 80 %: 1 either way. 20 tokens are 3, and 2.4.
    const scaled = scaledPrice(compilePrice({ input: 0.15, output: 0.6 }), 0.8);
    expect([3, 20, 25].map((input) => scaled.cost({ ...none, input }))).toEqual([1, 3, 3]);
    // Rounded before, 21 tokens would be ceil(ceil(3.15) * 0.8) = 4.
    expect(scaled.cost({ ...none, input: 21 })).toBe(3);
    expect(scaledPrice(compilePrice({ input: 1.1, output: 0 }), 1.1).cost({ ...none, input: 100 })).toBe(121);
  });

  it("says its factor in its version, is free as before, and is made once", () => {
    const price = compilePrice({ input: 0.15, cachedInput: 0.075, output: 0.6 });
    expect(scaledPrice(price, 0.8).version).toBe("0.15/0.075/0.6/0.6/0*0.8");
    expect(scaledPrice(price, 0.8)).toBe(scaledPrice(price, 0.8));
    expect(scaledPrice(price, 1)).toBe(price);
    const free = scaledPrice(compilePrice({ input: 0, output: 0 }), 3);
    expect([free.free, free.cost({ ...none, input: 9 })]).toEqual([true, 0]);
  });

  it("is multiplied by each factor that comes after another", () => {
    // A plan's 0.8, and a share of 0.5: a million tokens at 1 micro-credit are 400,000.
    const price = scaledPrice(scaledPrice(compilePrice({ input: 1, output: 1 }), 0.8), 0.5);
    expect(price.cost({ ...none, input: 1e6 })).toBe(400_000);
    expect(price.upperBound(1e6, 0)).toBe(400_000);
    expect(price.version).toBe("1/1/1/1/0*0.8*0.5");
    // Rounded up once: 0.15 * 0.8 * 0.3 = 0.036.
    const cheap = scaledPrice(scaledPrice(compilePrice({ input: 0.15, output: 1 }), 0.8), 0.3);
    expect([27, 28].map((input) => cheap.cost({ ...none, input }))).toEqual([1, 2]);
    const nothing = scaledPrice(scaledPrice(compilePrice({ input: 1, output: 1 }), 0), 0.5);
    expect([nothing.free, nothing.cost({ ...none, input: 9 })]).toEqual([true, 0]);
  });

  it("keeps what it made for the last hundred factors", () => {
    const price = compilePrice({ input: 1, output: 1 });
    const first = scaledPrice(price, 0.001);
    for (let factor = 2; factor <= 100; factor++) scaledPrice(price, factor);
    expect(scaledPrice(price, 0.001)).toBe(first);
    scaledPrice(price, 101);
    expect(scaledPrice(price, 0.001)).not.toBe(first);
  });

  it("is the exact product, and bounds what it costs", () => {
    const part = fc.record({ digits: fc.nat(10 ** 9), decimals: fc.nat(9) });
    const factors = fc.integer({ min: 1, max: 1e9 });
    const counts = fc.record({ input: fc.nat(1e8), cached: fc.nat(1e8), output: fc.nat(1e8), reasoning: fc.nat(1e8) });
    const given = fc.tuple(part, part, part, part, part);
    fc.assert(
      fc.property(given, factors, counts, (parts, millionths, used) => {
        const [input, cachedInput, output, reasoning, request] = parts.map(({ digits, decimals }) =>
          Number(`${digits}e-${decimals}`),
        ) as [number, number, number, number, number];
        const price = compilePrice({ input, cachedInput, output, reasoning, request });
        const scaled = scaledPrice(price, Number(`${millionths}e-6`));
        const [cached, thought] = [Math.min(used.cached, used.input), Math.min(used.reasoning, used.output)];
        const tokens = [used.input - cached, cached, used.output - thought, thought, 1_000_000];
        // In units of 10^-15 micro-credits.
        const sum = parts.reduce(
          (total, { digits, decimals }, kind) =>
            total + BigInt(digits) * 10n ** BigInt(9 - decimals) * BigInt(tokens[kind] ?? 0) * BigInt(millionths),
          0n,
        );
        const unit = 10n ** 15n;
        const exact = (sum + unit - 1n) / unit;
        const largest = BigInt(Number.MAX_SAFE_INTEGER);
        const micro = scaled.cost({
          input: used.input,
          cachedInput: used.cached,
          output: used.output,
          reasoning: used.reasoning,
        });
        expect(BigInt(micro)).toBe(exact > largest ? largest : exact);
        expect(micro).toBeLessThanOrEqual(scaled.upperBound(used.input, used.output));
        expect(scaled.free).toBe(price.free);
      }),
      { numRuns: 500 },
    );
  });
});
