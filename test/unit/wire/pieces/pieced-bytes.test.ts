import fc from "fast-check";
import { expect, it } from "vitest";
import { PiecedBytes } from "../../../../src/wire/pieced-bytes.js";

/** Few letters, so that what is sought begins often and ends seldom. */
const letters = fc.array(fc.constantFrom(0x61, 0x62), { maxLength: 60 }).map((bytes) => Buffer.from(bytes));

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

it("bytes in pieces read as those in one, wherever they are cut", () => {
  const places = fc.array(fc.nat(60), { maxLength: 20 });
  fc.assert(
    fc.property(letters, places, letters, fc.nat(70), fc.nat(70), (bytes, cuts, sought, one, other) => {
      const pieced = new PiecedBytes(cut(bytes, cuts));
      const [start, end] = [Math.min(one, other), Math.max(one, other)];
      expect(pieced.length).toBe(bytes.length);
      expect(pieced.whole.equals(bytes)).toBe(true);
      expect(pieced.part(start, end).equals(bytes.subarray(start, end))).toBe(true);
      const slices = pieced.slices(start, end);
      expect(Buffer.concat(slices).equals(bytes.subarray(start, end))).toBe(true);
      for (const slice of slices) expect(slice.buffer).toBe(bytes.buffer);
      if (sought.length === 0) return;
      const found = bytes.subarray(start, end).indexOf(sought);
      expect(pieced.indexOf(sought, start, end)).toBe(found < 0 ? -1 : start + found);
    }),
    { numRuns: 2000 },
  );
});

it("no bytes, and pieces of none, are read as nothing", () => {
  for (const pieces of [[], [Buffer.alloc(0)], [Buffer.alloc(0), Buffer.alloc(0)]]) {
    const nothing = new PiecedBytes(pieces);
    expect([nothing.length, nothing.whole.length, nothing.slices(0, 9), nothing.part(2, 9).length]).toEqual([
      ...[0, 0, [], 0],
    ]);
    expect(nothing.indexOf(Buffer.from("a"), 0, 9)).toBe(-1);
  }
});
