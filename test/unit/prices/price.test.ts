import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePrice } from "../../../src/prices/compile-price.js";
import { toMicro } from "../../../src/prices/micro.js";

const none = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };

describe("compilePrice", () => {
  it("counts one credit per million tokens as one micro-credit per token", () => {
    const price = compilePrice({ input: 0.15, output: 0.6 });
    expect(price.cost({ ...none, input: 1_000_000 })).toBe(150_000);
    expect(price.cost({ ...none, input: 100, output: 10 })).toBe(15 + 6);
  });

  it("rounds once, up", () => {
    const price = compilePrice({ input: 0.15, output: 0.6 });
    expect(price.cost({ ...none, input: 1 })).toBe(1);
    expect(price.cost({ ...none, input: 1, output: 1 })).toBe(1);
    expect(price.cost({ ...none, input: 3, output: 1 })).toBe(2);
    expect(price.cost({ ...none, input: 20 })).toBe(3);
    expect(price.cost(none)).toBe(0);
  });

  it("is not misled by binary fractions", () => {
    expect(compilePrice({ input: 0.1, output: 0.2 }).cost({ ...none, input: 10, output: 10 })).toBe(3);
    expect(compilePrice({ input: 1.1, output: 0 }).cost({ ...none, input: 100 })).toBe(110);
    expect(compilePrice({ input: 1e-7, output: 0 }).cost({ ...none, input: 10_000_000 })).toBe(1);
    expect(compilePrice({ input: 1e-12, output: 0 }).cost({ ...none, input: 1 })).toBe(1);
  });

  it("prices cached and reasoning tokens as parts of their wholes", () => {
    const price = compilePrice({ input: 10, cachedInput: 1, output: 100, reasoning: 1_000 });
    expect(price.cost({ input: 5, cachedInput: 2, output: 3, reasoning: 1 })).toBe(30 + 2 + 200 + 1_000);
    expect(price.cost({ input: 5, cachedInput: 5, output: 3, reasoning: 3 })).toBe(5 + 3_000);
  });

  it("takes a part that exceeds its whole for the whole", () => {
    const price = compilePrice({ input: 10, cachedInput: 1, output: 100, reasoning: 1_000 });
    expect(price.cost({ input: 5, cachedInput: 9, output: 3, reasoning: 4 })).toBe(5 + 3_000);
    const written = compilePrice({ input: 10, cachedInput: 1, cacheWrite: 12, cacheWrite1h: 20 });
    expect(written.cost({ ...none, input: 10, cachedInput: 6, cacheWrite: 8 })).toBe(6 + 4 * 12);
    expect(written.cost({ ...none, input: 10, cacheWrite: 3, cacheWrite1h: 9 })).toBe(7 * 10 + 3 * 20);
  });

  it("prices cached input as input, reasoning as output and the request at nothing by default", () => {
    const price = compilePrice({ input: 2, output: 3 });
    expect(price.cost({ input: 5, cachedInput: 4, output: 3, reasoning: 2 })).toBe(10 + 9);
    expect(price.upperBound(5, 3)).toBe(10 + 9);
    expect(
      compilePrice({ input: 2, output: 3, cachedInput: 0, reasoning: 0 }).cost({ ...none, input: 1, cachedInput: 1 }),
    ).toBe(0);
  });

  it("prices what is written to a cache, for minutes and for an hour", () => {
    const price = compilePrice({ input: 4, cachedInput: 0.4, cacheWrite: 5, cacheWrite1h: 8, output: 20 });
    const tokens = { input: 100, cachedInput: 10, cacheWrite: 50, cacheWrite1h: 20, output: 3, reasoning: 0 };
    expect(price.cost(tokens)).toBe(40 * 4 + 10 * 0.4 + 30 * 5 + 20 * 8 + 3 * 20);
    expect(price.version).toBe("4/0.4/20/20/0/5/8");
    // The dearest kind bounds them all.
    expect(price.upperBound(100, 3)).toBe(100 * 8 + 3 * 20);
    // A part is no more than its whole.
    expect(price.cost({ ...tokens, cacheWrite1h: 70 })).toBe(40 * 4 + 10 * 0.4 + 50 * 8 + 3 * 20);
  });

  it.each<[object, number, string]>([
    // As Anthropic charges, where writes are dearer than the input at all.
    [{ cacheWrite: 5 }, 8, "4/4/20/20/0/5/8"],
    [{ cacheWrite: 9 }, 9, "4/4/20/20/0/9"],
    [{ cacheWrite: 4 }, 4, "4/4/20/20/0/4"],
    [{ cacheWrite: 0 }, 0, "4/4/20/20/0/0"],
    [{}, 4, "4/4/20/20/0"],
    [{ cacheWrite1h: 4 }, 4, "4/4/20/20/0"],
    [{ cacheWrite1h: 7 }, 7, "4/4/20/20/0/4/7"],
    [{ cacheWrite: 5, cacheWrite1h: 0 }, 0, "4/4/20/20/0/5/0"],
  ])("has a price for writes of an hour: %j", (written, perToken, version) => {
    const price = compilePrice({ input: 4, output: 20, ...written });
    expect(price.cost({ ...none, input: 10, cacheWrite: 10, cacheWrite1h: 10 })).toBe(10 * perToken);
    expect(price.version).toBe(version);
  });

  it("adds the price of the request in credits", () => {
    const price = compilePrice({ input: 0, output: 0, request: 0.002 });
    expect(price.cost(none)).toBe(2_000);
    expect(price.upperBound(0, 0)).toBe(2_000);
    expect(compilePrice({ input: 0.5, output: 0, request: 0.000_000_5 }).cost({ ...none, input: 1 })).toBe(1);
  });

  it("is free only when every price is zero", () => {
    expect(compilePrice({ input: 0, output: 0 }).free).toBe(true);
    expect(compilePrice({ input: 0, output: 0, cachedInput: 0, reasoning: 0, request: 0 }).free).toBe(true);
    for (const field of ["input", "cachedInput", "cacheWrite", "cacheWrite1h", "output", "reasoning", "request"]) {
      expect(compilePrice({ input: 0, output: 0, [field]: 1e-12 }).free).toBe(false);
    }
  });

  it("saturates", () => {
    const price = compilePrice({ input: 1_000_000_000, output: 0 });
    expect(price.cost({ ...none, input: Number.MAX_SAFE_INTEGER })).toBe(Number.MAX_SAFE_INTEGER);
    expect(compilePrice({ input: 1e300, output: 0 }).upperBound(1, 0)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("refuses prices that are none", () => {
    for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => compilePrice({ input: value, output: 0 })).toThrow(RangeError);
      expect(() => compilePrice({ input: 0, output: 0, request: value })).toThrow("price.request");
    }
  });

  it("refuses more decimals than it can keep, and says why", () => {
    expect(() => compilePrice({ input: 0, output: 0.1 + 0.2 })).toThrow(
      "price.output must have at most 12 decimals, not 17 (0.30000000000000004)",
    );
    expect(() => compilePrice({ input: 1e-13, output: 0 })).toThrow("price.input");
  });

  it("refuses token counts that are none", () => {
    const price = compilePrice({ input: 1, cachedInput: 0.5, output: 1 });
    for (const count of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      for (const field of ["input", "cachedInput", "output", "reasoning"]) {
        const tokens = { input: 5, cachedInput: 2, output: 5, reasoning: 2, [field]: count };
        if (count === Number.POSITIVE_INFINITY && (field === "cachedInput" || field === "reasoning")) continue;
        expect(() => price.cost(tokens)).toThrow(RangeError);
      }
      expect(() => price.upperBound(count, 0)).toThrow(RangeError);
      expect(() => price.upperBound(0, count)).toThrow(RangeError);
    }
  });
});

/** A price as whole 10^-12 parts, so that the property can compute without fractions. */
const parts = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** 15n }),
  fc.nat(10_000).map((hundredths) => BigInt(hundredths) * 10n ** 10n),
  fc.nat(100).map((whole) => BigInt(whole) * 10n ** 12n),
);
const toPrice = (value: bigint) => Number(`${value}e-12`);
const counts = fc.oneof(fc.nat(5), fc.nat(2_000_000), fc.maxSafeNat());
const safely = (value: bigint) => (value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value));
const ceiling = (value: bigint, unit: bigint) => (value + unit - 1n) / unit;

describe("compilePrice, by properties", () => {
  const prices = fc.record({ input: parts, cachedInput: parts, output: parts, reasoning: parts, request: parts });
  const tokens = fc.tuple(counts, counts, counts, counts).map(([a, b, c, d]) => ({
    input: Math.max(a, b),
    cachedInput: Math.min(a, b),
    output: Math.max(c, d),
    reasoning: Math.min(c, d),
  }));
  const compile = (price: { input: bigint; cachedInput: bigint; output: bigint; reasoning: bigint; request: bigint }) =>
    compilePrice({
      input: toPrice(price.input),
      cachedInput: toPrice(price.cachedInput),
      output: toPrice(price.output),
      reasoning: toPrice(price.reasoning),
      request: toPrice(price.request),
    });

  it("costs exactly what big integers say", () => {
    fc.assert(
      fc.property(prices, tokens, (price, { input, cachedInput, output, reasoning }) => {
        const sum =
          BigInt(input - cachedInput) * price.input +
          BigInt(cachedInput) * price.cachedInput +
          BigInt(output - reasoning) * price.output +
          BigInt(reasoning) * price.reasoning +
          price.request * 1_000_000n;
        expect(compile(price).cost({ input, cachedInput, output, reasoning })).toBe(safely(ceiling(sum, 10n ** 12n)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("bounds every cost, by no more than the dearest kinds", () => {
    fc.assert(
      fc.property(prices, tokens, (price, counted) => {
        const compiled = compile(price);
        const bound = compiled.upperBound(counted.input, counted.output);
        expect(compiled.cost(counted)).toBeLessThanOrEqual(bound);
        const allCached = { ...counted, cachedInput: price.cachedInput > price.input ? counted.input : 0 };
        const dearest = { ...allCached, reasoning: price.reasoning > price.output ? counted.output : 0 };
        expect(bound).toBe(compiled.cost(dearest));
      }),
    );
  });
});

describe("toMicro", () => {
  it("converts exactly", () => {
    expect(toMicro(0)).toBe(0);
    expect(toMicro(1)).toBe(1_000_000);
    expect(toMicro(0.1)).toBe(100_000);
    expect(toMicro(1.1)).toBe(1_100_000);
    expect(toMicro(4.35)).toBe(4_350_000);
    expect(toMicro(0.000_001)).toBe(1);
    expect(toMicro(9_007_199_254)).toBe(9_007_199_254_000_000);
  });

  it("cuts off what is finer than a micro-credit", () => {
    expect(toMicro(0.000_000_9)).toBe(0);
    expect(toMicro(1.999_999_9)).toBe(1_999_999);
    expect(toMicro(0.1 + 0.2)).toBe(300_000);
  });

  it("refuses what is no amount", () => {
    for (const value of [-1, -0.000_001, Number.NaN, Number.POSITIVE_INFINITY, 9_007_199_255, 1e300]) {
      expect(() => toMicro(value)).toThrow(RangeError);
    }
  });

  it("undoes itself", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31 - 1), (micro) => {
        expect(toMicro(micro / 1_000_000)).toBe(micro);
      }),
    );
  });
});
