import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copyRecord } from "../../../src/stores/memory/memory-request-log.js";

const records = fc.object({
  key: fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom("__proto__", "constructor", "length")),
  values: [
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.date({ noInvalidDate: true }),
    fc.constant(null),
    fc.constant(undefined),
  ],
  maxDepth: 3,
});

/** Every object in it. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

describe("copyRecord", () => {
  it("copies as structuredClone does, and shares no object", () => {
    fc.assert(
      fc.property(records, (record) => {
        const copy = copyRecord(record);
        expect(isDeepStrictEqual(copy, structuredClone(record))).toBe(true);
        const own = new Set(objectsIn(record));
        for (const object of objectsIn(copy)) expect(own.has(object)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it("refuses a function, as structuredClone does", () => {
    expect(() => copyRecord({ toJSON: () => 1 })).toThrow("could not be cloned");
  });

  it("keeps a member named __proto__", () => {
    const copy = copyRecord(JSON.parse('{"__proto__":{"isAdmin":true}}'));
    expect(Object.keys(copy)).toEqual(["__proto__"]);
    expect(copy.isAdmin).toBeUndefined();
  });
});
