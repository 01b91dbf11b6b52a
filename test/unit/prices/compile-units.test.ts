import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { compilePrice } from "../../../src/prices/compile-price.js";
import type { CompiledPrice } from "../../../src/prices/compiled-price.js";
import type { ImagePrice, Price } from "../../../src/prices/price.js";
import type { ImageCount, UsageCounts } from "../../../src/prices/usage-counts.js";
import { readVersion } from "../../support/journal-price.js";

const none: UsageCounts = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };

describe("a price beside tokens", () => {
  it("charges minutes to the millisecond, and rounds once", () => {
    const price = compilePrice({ audioMinute: 0.006 });
    expect(price.cost({ ...none, audioMs: 60_000 })).toBe(6_000);
    expect(price.cost({ ...none, audioMs: 1_000 })).toBe(100);
    expect(price.cost({ ...none, audioMs: 10 })).toBe(1);
    expect(price.cost({ ...none, audioMs: 11 })).toBe(2);
    expect(price.cost(none)).toBe(0);
    expect(price.version).toBe("0/0/0/0/0;audioMinute=0.006");
    expect(price.units).toEqual(["audioMs"]);
  });

  it("comes to the same in plain numbers and in big integers", () => {
    const price = compilePrice({ audioMinute: 0.0061 });
    const micro = (BigInt(7_777_777) * 6_100n + 59_999n) / 60_000n;
    expect(price.cost({ ...none, audioMs: 7_777_777 })).toBe(Number(micro));
    const fine = compilePrice({ audioMinute: 6.100_000_000_001 });
    const unit = 60_000n * 10n ** 6n;
    const exact = (7_777_777n * 6_100_000_000_001n + unit - 1n) / unit;
    expect(fine.cost({ ...none, audioMs: 7_777_777 })).toBe(Number(exact));
  });

  it("counts exactly beyond what plain numbers can, and refuses what is no count", () => {
    // 10^16 + 1 of the finest unit, which as a plain number is 10^16.
    const price = compilePrice({ characters: 1, request: 1e-12 });
    expect(price.cost({ ...none, characters: 10_000_000_000 })).toBe(10_000_000_001);
    expect(price.cost({ ...none, characters: Number.MAX_SAFE_INTEGER })).toBe(Number.MAX_SAFE_INTEGER);
    for (const wrong of [-1, 0.5, Number.NaN]) {
      expect(() => price.cost({ ...none, characters: wrong })).toThrow(RangeError);
    }
  });

  it("charges tokens that are written to a cache by how long they are kept", () => {
    const price = compilePrice({ input: 10, cacheWrite: 12, cacheWrite1h: 20, characters: 1 });
    expect(price.cost({ ...none, input: 10, cacheWrite: 6, cacheWrite1h: 2 })).toBe(4 * 10 + 4 * 12 + 2 * 20);
    expect(price.cost({ ...none, input: 10, cacheWrite: 6, cacheWrite1h: 9 })).toBe(4 * 10 + 6 * 20);
  });

  it("bounds the tokens of a kind by all that there can be", () => {
    const price = compilePrice({
      input: 10,
      inputAudio: 30,
      inputImage: 20,
      output: 40,
      outputAudio: 90,
      outputImage: 80,
    });
    const most = { ...none, inputAudio: 100, inputImage: 0, outputAudio: 100, outputImage: 0 };
    expect(price.upperBound(3, 5, most)).toBe(3 * 30 + 5 * 90);
    const mostImages = { ...none, inputAudio: 0, inputImage: 100, outputAudio: 0, outputImage: 100 };
    expect(price.upperBound(3, 5, mostImages)).toBe(3 * 20 + 5 * 80);
    expect(price.upperBound(3, 5)).toBe(3 * 10 + 5 * 40);
  });

  it("bounds a prompt and an answer by the dearest kind of their tokens", () => {
    for (const dear of ["cachedInput", "cacheWrite", "cacheWrite1h"] as const) {
      const price = compilePrice({
        ...{ input: 10, cachedInput: 1, cacheWrite: 2, cacheWrite1h: 3 },
        [dear]: 15,
        characters: 1,
      });
      expect(price.upperBound(4, 0)).toBe(4 * 15);
    }
    expect(compilePrice({ output: 10, reasoning: 15, characters: 1 }).upperBound(0, 4)).toBe(4 * 15);
    const most = { ...none, inputAudio: 4, inputImage: 4 };
    expect(compilePrice({ input: 10, cachedInputAudio: 30, inputAudio: 5 }).upperBound(4, 0, most)).toBe(4 * 30);
    expect(compilePrice({ input: 10, cachedInputImage: 30, inputImage: 5 }).upperBound(4, 0, most)).toBe(4 * 30);
  });

  it("charges each kind of image of a call by its own row", () => {
    const price = compilePrice({
      images: [
        { quality: "high", size: "1x1", credits: 0.3 },
        { quality: "high", size: "2x2", credits: 0.5 },
        { quality: "low", credits: 0.1 },
        { credits: 0.2 },
      ],
    });
    const images = [
      { quality: "high", size: "1x1", count: 1 },
      { quality: "high", size: "2x2", count: 1 },
      { quality: "low", size: "1x1", count: 1 },
      { quality: "low", count: 2 },
      { quality: "other", size: "1x1", count: 1 },
      { quality: "another", size: "9x9", count: 1 },
      { count: 1 },
    ];
    const costs = [300_000, 500_000, 100_000, 200_000, 200_000, 200_000, 500_000];
    expect(images.map((image) => price.cost({ ...none, images: [image] }))).toEqual(costs);
    expect(price.cost({ ...none, images })).toBe(costs.reduce((sum, cost) => sum + cost));
  });

  it("charges cached tokens of a kind as the kind where no price of cached ones is given", () => {
    const used = {
      ...none,
      input: 10,
      inputImage: 4,
      inputAudio: 4,
      cachedInput: 10,
      cachedInputImage: 4,
      cachedInputAudio: 4,
    };
    expect(compilePrice({ input: 1, inputImage: 10, inputAudio: 100 }).cost(used)).toBe(2 + 40 + 400);
    expect(compilePrice({ input: 1, cachedInput: 0.5, inputImage: 10, inputAudio: 100 }).cost(used)).toBe(5);
  });

  it("charges a call and its minutes together", () => {
    const price = compilePrice({ audioMinute: 0.6, request: 0.01 });
    expect(price.cost({ ...none, audioMs: 60_000 })).toBe(610_000);
    expect(price.cost(none)).toBe(10_000);
  });

  it("is told of all variants: free where each is, with the units of any", () => {
    const told = ({ pricesTokens, units, free }: ReturnType<typeof compilePrice>) => ({ pricesTokens, units, free });
    const price = (tier: number) => compilePrice({ input: 0, tiers: { other: { input: tier } } });
    expect(told(price(0))).toEqual({ pricesTokens: false, units: [], free: true });
    expect(told(price(1))).toEqual({ pricesTokens: true, units: [], free: false });
    expect(told(compilePrice({ characters: 1, tiers: { other: {} } }))).toMatchObject({ units: ["characters"] });
  });

  it("says whether tokens have a price, and what else has", () => {
    const told = ({ pricesTokens, units, free }: ReturnType<typeof compilePrice>) => ({ pricesTokens, units, free });
    expect(told(compilePrice({ characters: 1 }))).toEqual({ pricesTokens: false, units: ["characters"], free: false });
    expect(told(compilePrice({ input: 1, characters: 0 }))).toMatchObject({ pricesTokens: true, free: false });
    expect(told(compilePrice({ request: 1, characters: 0 }))).toMatchObject({ pricesTokens: false, free: false });
  });

  it("charges characters by the million and searches by the thousand", () => {
    const price = compilePrice({ characters: 15, searches: 2, request: 0.001 });
    expect(price.cost({ ...none, characters: 4_096, searches: 3 })).toBe(4_096 * 15 + 3 * 2_000 + 1_000);
    expect(price.upperBound(0, 0, { ...none, characters: 10, searches: 1 })).toBe(150 + 2_000 + 1_000);
    expect(price.version).toBe("0/0/0/0/0.001;characters=15;searches=2");
  });

  it("scales all of its parts by a factor", () => {
    const price = compilePrice({ images: [{ credits: 0.05 }], audioMinute: 0.006 }).scaled(0.5);
    expect(price.cost({ ...none, images: [{ count: 1 }], audioMs: 60_000 })).toBe(25_000 + 3_000);
    expect(price.version).toBe("0/0/0/0/0;audioMinute=0.006;images=*/*:0.05*0.5");
  });

  it("is free only when every part is", () => {
    expect(compilePrice({ characters: 0, images: [{ credits: 0 }] }).free).toBe(true);
    for (const price of [
      { characters: 1e-12 },
      { audioMinute: 1e-9 },
      { images: [{ credits: 0 }, { credits: 1e-6 }] },
    ]) {
      expect(compilePrice(price).free).toBe(false);
    }
  });

  it("refuses what is no price, and names it", () => {
    expect(() => compilePrice({ images: [{ credits: 1 }, { size: "1x1", credits: -1 }] })).toThrow(
      "price.images[1].credits",
    );
    expect(() => compilePrice({ audioMinute: 0.1 + 0.2 })).toThrow("price.audioMinute must have at most 12 decimals");
  });
});

describe("tokens of images and audio", () => {
  let price: CompiledPrice;
  beforeEach(() => {
    price = compilePrice({ input: 5, cachedInput: 1, output: 10, inputImage: 8, inputAudio: 6, outputImage: 40 });
  });

  it("are parts of their wholes", () => {
    const used = {
      input: 100,
      cachedInput: 0,
      inputImage: 30,
      inputAudio: 20,
      output: 60,
      outputImage: 50,
      reasoning: 4,
    };
    expect(price.cost(used)).toBe(50 * 5 + 30 * 8 + 20 * 6 + 10 * 10 + 50 * 40);
    expect(price.cost({ ...used, inputImage: 500, inputAudio: 9, outputImage: 70 })).toBe(100 * 8 + 60 * 40);
  });

  it("count as cached where they are said to be, and where there is no text to be cached", () => {
    const cached = compilePrice({ input: 5, cachedInput: 1, inputImage: 8, cachedInputImage: 2 });
    const used = { ...none, input: 100, inputImage: 60, cachedInput: 50 };
    expect(cached.cost(used)).toBe(40 * 1 + 10 * 2 + 50 * 8);
    expect(cached.cost({ ...used, cachedInputImage: 45 })).toBe(5 * 1 + 35 * 5 + 45 * 2 + 15 * 8);
  });

  it("are held at their price only where the demand names them", () => {
    expect(price.upperBound(100, 60)).toBe(100 * 5 + 60 * 10);
    expect(price.upperBound(100, 60, { ...none, inputImage: 30, outputImage: 60 })).toBe(70 * 5 + 30 * 8 + 60 * 40);
  });

  it("cost as text where they have no price, and text as they where it has none", () => {
    const plain = compilePrice({ input: 5, output: 10, characters: 0 });
    expect(plain.cost({ ...none, input: 10, inputAudio: 10, output: 3, outputAudio: 3 })).toBe(80);
    const images = compilePrice({ inputImage: 8, outputImage: 40 });
    expect(images.cost({ ...none, input: 10, output: 3 })).toBe(10 * 8 + 3 * 40);
  });
});

describe("rows of images", () => {
  const rows: ImagePrice[] = [
    { quality: "high", size: "1024x1024", credits: 0.16 },
    { quality: "high", credits: 0.25 },
    { size: "512x512", credits: 0.01 },
    { credits: 0.04 },
  ];
  const one = (price: Price, image: Omit<ImageCount, "count">) =>
    compilePrice(price).cost({ ...none, images: [{ ...image, count: 1 }] }) / 1e6;

  it.each<[Omit<ImageCount, "count">, number]>([
    [{ quality: "high", size: "1024x1024" }, 0.16],
    [{ quality: "high", size: "512x512" }, 0.25],
    [{ quality: "low", size: "512x512" }, 0.01],
    [{ quality: "low", size: "1024x1024" }, 0.04],
    // What is not known is the dearest of what it may be.
    [{}, 0.25],
    [{ quality: "low" }, 0.04],
    [{ quality: "high" }, 0.25],
    [{ size: "1024x1024" }, 0.16],
  ])("charge %j", (image, credits) => {
    expect(one({ images: rows }, image)).toBe(credits);
  });

  it("have none that is free: what no row is for is the dearest", () => {
    expect(one({ images: rows.slice(0, 3) }, { quality: "low", size: "64x64" })).toBe(0.25);
    expect(one({ images: [{ quality: "low", credits: 0.01 }] }, { quality: "auto" })).toBe(0.01);
  });

  it("keep nothing of what clients name", () => {
    const price = compilePrice({ images: rows });
    for (const size of ["constructor", "__proto__", "=high", "/", "?"]) {
      expect(price.cost({ ...none, images: [{ quality: size, size, count: 2 }] })).toBe(80_000);
    }
  });
});

describe("every bound of a price", () => {
  const amount = fc.oneof(
    fc.nat(50),
    fc.nat(2_000_000).map((parts) => parts / 1e6),
  );
  const qualities = fc.constantFrom(undefined, "low", "high");
  const sizes = fc.constantFrom(undefined, "1x1", "2x2");
  const row = fc.record({ quality: qualities, size: sizes, credits: amount });
  const some = fc.option(amount, { nil: undefined });
  const prices = fc.record({
    ...{ input: some, cachedInput: some, cacheWrite: some, output: some, reasoning: some, request: some },
    ...{ inputImage: some, cachedInputImage: some, inputAudio: some, cachedInputAudio: some },
    ...{ outputImage: some, outputAudio: some, audioMinute: some, characters: some, searches: some },
    images: fc.option(fc.uniqueArray(row, { selector: ({ quality, size }) => `${quality}/${size}`, minLength: 1 }), {
      nil: undefined,
    }),
  });
  const names = [
    ...["input", "cachedInput", "cacheWrite", "cacheWrite1h", "output", "reasoning", "inputImage", "inputAudio"],
    ...["cachedInputImage", "cachedInputAudio", "outputImage", "outputAudio", "audioMs", "characters", "searches"],
  ] as const;
  const image = fc.record({ quality: qualities, size: sizes, count: fc.nat(4) });

  it("is no less than what anything within the demand costs", () => {
    const demand = fc.tuple(...names.map(() => fc.nat(5_000)));
    const share = fc.tuple(...names.map(() => fc.double({ min: 0, max: 1, noNaN: true })));
    fc.assert(
      fc.property(prices, demand, share, fc.array(image, { maxLength: 3 }), (price, most, shares, images) => {
        const compiled = compilePrice(price as Price);
        const countsOf = (of: readonly number[]) => Object.fromEntries(names.map((name, place) => [name, of[place]]));
        const bounds = { ...countsOf(most), images } as unknown as UsageCounts;
        const used = {
          ...countsOf(most.map((count, place) => Math.floor(count * (shares[place] ?? 0)))),
          // Of a kind that was left open, any may be made.
          images: images.map(({ quality = "low", size = "2x2", count }) => ({ quality, size, count })),
        } as unknown as UsageCounts;
        expect(compiled.cost(used)).toBeLessThanOrEqual(compiled.upperBound(bounds.input, bounds.output, bounds));
      }),
      { numRuns: 2_000 },
    );
  });

  it("is what the price in the journal says", () => {
    fc.assert(
      fc.property(
        prices,
        fc.tuple(...names.map(() => fc.nat(5_000))),
        fc.array(image, { maxLength: 3 }),
        (price, counts, images) => {
          const used = {
            ...Object.fromEntries(names.map((name, place) => [name, counts[place]])),
            images,
          } as unknown as UsageCounts;
          const compiled = compilePrice(price as Price);
          expect(compilePrice(readVersion(compiled.version)).cost(used)).toBe(compiled.cost(used));
        },
      ),
      { numRuns: 500 },
    );
  });
});
