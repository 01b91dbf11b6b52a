import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { RememberedCounts } from "../../../src/tokens/text-tokens.js";

const texts = fc.array(fc.tuple(fc.constantFrom("a", "b", "é", "漢"), fc.nat(9000)), { maxLength: 60 });

it("gives what counting gives, whatever came before", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 100_000 }), (list, mostBytes) => {
      const counts = new RememberedCounts(mostBytes);
      for (const [character, length] of list) {
        const text = Buffer.from(character.repeat(length));
        expect(counts.count(text, ({ length: bytes }) => bytes * 3)).toBe(text.length * 3);
      }
    }),
  );
});

it("counts a text once, unless it is short or long", () => {
  const counts = new RememberedCounts(1_000_000);
  const count = vi.fn(() => 7);
  for (const [length, times] of [
    [1000, 1],
    [10, 2],
    [10_000, 2],
  ] as const) {
    count.mockClear();
    for (let repeated = 0; repeated < 2; repeated++) counts.count(Buffer.alloc(length, length % 251), count);
    expect(count).toHaveBeenCalledTimes(times);
  }
});

it("tells texts of the same length apart", () => {
  const counts = new RememberedCounts(1_000_000);
  const first = Buffer.alloc(500, 0xc3);
  const second = Buffer.alloc(500, 0xc4);
  expect([counts.count(first, () => 1), counts.count(second, () => 2), counts.count(first, () => 3)]).toEqual([
    1, 2, 1,
  ]);
});

it("keeps what came last, and no more than it may", () => {
  const counts = new RememberedCounts(20_000);
  const text = (seed: number) => Buffer.alloc(1000, seed);
  for (let seed = 0; seed < 100; seed++) counts.count(text(seed), () => seed);
  expect(counts.count(text(99), () => -1)).toBe(99);
  expect(counts.count(text(92), () => -1)).toBe(92);
  expect(counts.count(text(50), () => -1)).toBe(-1);
});

it("does not see that the bytes it was given are written over", () => {
  const counts = new RememberedCounts(20_000);
  const text = Buffer.alloc(1000, 1);
  counts.count(text, () => 1);
  text.fill(2);
  expect(counts.count(text, () => 2)).toBe(2);
  expect(counts.count(Buffer.alloc(1000, 1), () => 3)).toBe(1);
});
