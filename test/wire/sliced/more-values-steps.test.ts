import fc from "fast-check";
import { expect, it } from "vitest";
import { findJsonFault } from "../../../src/wire/json-syntax.js";
import { noLeaps } from "../../../src/wire/leaps.js";
import { moreValuesSteps } from "../../../src/wire/sliced/more-values-steps.js";
import { atOnce } from "../../../src/wire/slices.js";

const hasMoreValues = (json: Uint8Array, most: number) => {
  const leaps = new Map<number, number>();
  findJsonFault(json, 1000, leaps);
  const [alone, leaping] = [noLeaps, leaps].map((each) => atOnce(moreValuesSteps(json, each, { all: most })));
  expect(alone).toBe(leaping);
  return alone;
};

/** Values and names, as a parser finds them; an empty list or object counts once more. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const inner = Array.isArray(value) ? value : Object.values(value);
  const names = Array.isArray(value) ? 0 : inner.length;
  return 1 + (inner.length === 0 ? 1 : inner.reduce<number>((sum, each) => sum + countOf(each), names));
}

it("counts what a parser would make of the text, whatever stands in its strings", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const json = new TextEncoder().encode(JSON.stringify(value, null, indent));
      const count = countOf(JSON.parse(JSON.stringify(value)));
      expect(hasMoreValues(json, count)).toBe(false);
      expect(hasMoreValues(json, count - 1)).toBe(true);
    }),
  );
});
