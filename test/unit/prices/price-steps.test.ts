import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { compilePrice } from "../../../src/prices/compile-price.js";
import type { CompiledPrice } from "../../../src/prices/compiled-price.js";
import type { Price } from "../../../src/prices/price.js";
import type { UsageCounts } from "../../../src/prices/usage-counts.js";
import { readVersion } from "../../support/journal-price.js";

const used = (input: number, output: number, more: Partial<UsageCounts> = {}): UsageCounts => ({
  ...{ input, cachedInput: 0, output, reasoning: 0 },
  ...more,
});

/** As a vendor sells a model of 1,000,000 tokens. */
const stepped: Price = {
  ...{ input: 3, cachedInput: 0.3, output: 15 },
  steps: [{ above: 200_000, input: 6, cachedInput: 0.6, output: 22.5 }],
};

describe("a price with steps", () => {
  let price: CompiledPrice;
  beforeEach(() => {
    price = compilePrice(stepped);
  });

  it.each<[UsageCounts, number]>([
    [used(200_000, 1000), 600_000 + 15_000],
    // All of its tokens cost more, not those above the step alone.
    [used(200_001, 1000), 1_200_006 + 22_500],
    [used(300_000, 1000, { cachedInput: 250_000 }), 50_000 * 6 + 250_000 * 0.6 + 22_500],
  ])("charges %j by the size of the whole prompt: %d", (counts, micro) => {
    expect(price.cost(counts)).toBe(micro);
  });

  it("holds the dearest that can apply", () => {
    expect(price.upperBound(200_000, 1000)).toBe(615_000);
    expect(price.upperBound(200_001, 1000)).toBe(1_222_506);
    // Below a step that is cheaper, the prompt may turn out to be smaller.
    const cheaper = compilePrice({ input: 10, output: 0, steps: [{ above: 100, input: 1 }] });
    expect(cheaper.upperBound(1000, 0)).toBe(10_000);
  });

  it("costs what a step does not name as below it, and takes the highest step that is reached", () => {
    const other = compilePrice({
      ...{ input: 1, output: 10, request: 0.5 },
      steps: [
        { above: 272_000, input: 4 },
        { above: 32_000, input: 2, output: 20 },
      ],
    });
    expect(other.cost(used(32_000, 10))).toBe(500_000 + 32_000 + 100);
    expect(other.cost(used(32_001, 10))).toBe(500_000 + 64_002 + 200);
    expect(other.cost(used(272_001, 10))).toBe(500_000 + 4 * 272_001 + 100);
  });

  it("is scaled with all of its steps", () => {
    expect(price.scaled(0.5).cost(used(200_002, 1000))).toBe(600_006 + 11_250);
    expect(price.scaled(0.5).version).toBe("3/0.3/15/15/0;above.200000=6/0.6/22.5/22.5/0*0.5");
  });
});

describe("a price with tiers", () => {
  let price: CompiledPrice;
  beforeEach(() => {
    price = compilePrice({
      ...stepped,
      tiers: {
        priority: { input: 6, output: 30 },
        flex: { input: 1.5, output: 7.5, steps: [{ above: 10, input: 2 }] },
      },
    });
  });

  it.each<[string | undefined, number]>([
    [undefined, 300 + 150],
    ["priority", 600 + 300],
    ["flex", 200 + 75],
    ["scale", 300 + 150],
  ])("charges the tier %s", (serviceTier, micro) => {
    expect(price.cost(used(100, 10, serviceTier === undefined ? {} : { serviceTier }))).toBe(micro);
  });

  it("holds the dearest one, as no request is sure of its tier", () => {
    expect(price.upperBound(100, 10)).toBe(900);
    expect(price.tiers).toEqual(["priority", "flex"]);
    expect(price.version).toBe(
      "3/0.3/15/15/0;above.200000=6/0.6/22.5/22.5/0;tier.priority=6/0.3/30/30/0;" +
        "tier.flex=[1.5/0.3/7.5/7.5/0,above.10=2/0.3/7.5/7.5/0]",
    );
  });
});

it("any price with steps and tiers holds what anything within the demand costs, and stands in the journal", () => {
  const amount = fc.integer({ min: 0, max: 60 });
  const prices = fc.record({ input: amount, output: amount }, { requiredKeys: ["input", "output"] });
  const part = fc.record(
    { input: amount, cachedInput: amount, output: amount, inputAudio: amount },
    { requiredKeys: [] },
  );
  const steps = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), part), {
    maxLength: 3,
    selector: ([at]) => at,
  });
  const withSteps = fc.tuple(prices, part, steps).map(
    ([own, more, all]): Price => ({
      ...{ ...more, ...own },
      ...(all.length > 0 && { steps: all.map(([above, at]) => ({ above, ...at })) }),
    }),
  );
  const priced = fc.tuple(withSteps, fc.option(withSteps)).map(([base, priority]): Price => {
    return priority === null ? base : { ...base, tiers: { priority } };
  });
  const counts = fc.record({ input: fc.nat(50), cachedInput: fc.nat(50), output: fc.nat(50), inputAudio: fc.nat(50) });
  fc.assert(
    fc.property(priced, counts, fc.boolean(), (price, { inputAudio, ...count }, isPriority) => {
      const compiled = compilePrice(price);
      const tokens = used(count.input, count.output, {
        ...{ ...count, inputAudio: Math.min(inputAudio, count.input) },
        ...(isPriority && { serviceTier: "priority" }),
      });
      const most = { ...tokens, inputAudio: count.input };
      const cost = compiled.cost(tokens);
      expect(cost).toBeLessThanOrEqual(compiled.upperBound(count.input, count.output, most));
      expect(cost).toBeLessThanOrEqual(compiled.upperBound(count.input + 7, count.output, most));
      expect(compilePrice(readVersion(compiled.version)).cost(tokens)).toBe(cost);
    }),
  );
});
