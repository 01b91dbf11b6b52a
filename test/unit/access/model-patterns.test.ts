import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesPattern } from "../../../src/access/matches-pattern.js";
import { ModelPatterns } from "../../../src/access/model-patterns.js";

const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "*"), maxLength: 4 });

describe("ModelPatterns", () => {
  it("has what one of the patterns matches", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), text, (patterns, id) => {
        const isMatched = patterns.some((pattern) => matchesPattern(pattern, id));
        expect(new ModelPatterns(patterns).has(id)).toBe(isMatched);
      }),
      { numRuns: 2_000 },
    );
  });
});
