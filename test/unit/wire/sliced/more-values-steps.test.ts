import fc from "fast-check";
import { expect, it } from "vitest";
import { findJsonFault } from "../../../../src/wire/json-syntax.js";
import { noSkips } from "../../../../src/wire/skip-table.js";
import { atOnce } from "../../../../src/wire/slices.js";
import { moreValuesSteps } from "../../../../src/wire/value-steps.js";

const hasMoreValues = (json: Uint8Array, most: number) => {
  const skips = new Map<number, number>();
  findJsonFault(json, 1000, skips);
  const [alone, leaping] = [noSkips, skips].map((each) => atOnce(moreValuesSteps(json, each, { all: most })));
  expect(alone).toBe(leaping);
  return alone !== undefined;
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

it("tells an object of too many members, whatever lies in it or beside it", () => {
  const beyond = (json: string) => atOnce(moreValuesSteps(Buffer.from(json), noSkips, { all: 100, ofObject: 3 }));
  expect(beyond('[{"a":1,"b":2,"c":3},{"a":1,"b":2,"c":3}]')).toBeUndefined();
  expect(beyond('{"a":{"x":1,"y":2,"z":3},"b":"{:::::","c":{"x":[{}]}}')).toBeUndefined();
  expect(beyond('{"a":{"x":1,"y":2,"z":3},"b":1,"c":2,"d":3}')).toBe("ofObject");
  expect(beyond('[1,{"a":{"w":0,"x":1,"y":2,"z":3}}]')).toBe("ofObject");
  expect(beyond(`[${"1,".repeat(100)}1]`)).toBe("all");
});
