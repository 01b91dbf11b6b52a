import { describe, expect, it } from "vitest";
import { idProblem } from "../../../src/check/id-problem.js";

describe("idProblem", () => {
  it("finds the controls, and no other character", () => {
    for (let unit = 0; unit < 0x10000; unit++) {
      if (unit >= 0xd800 && unit < 0xe000) continue;
      const character = String.fromCharCode(unit);
      const problem = /\p{Cc}/u.test(character) ? "must hold no control characters" : undefined;
      expect([unit, idProblem(`id${character}`), idProblem(`${character}id`)]).toEqual([unit, problem, problem]);
    }
  });

  it("finds halves of surrogate pairs, and lets whole ones pass", () => {
    for (const half of ["\ud800", "\udbff", "\udc00", "\udfff"]) {
      expect(idProblem(`a${half}b`)).toBe("must be well-formed Unicode, without halves of surrogate pairs");
    }
    expect(idProblem("\u{1F600}")).toBeUndefined();
  });

  it("finds what is no text, empty, or too long", () => {
    expect(idProblem(7)).toBe("must be a string");
    expect(idProblem("")).toBe("must not be empty");
    expect(idProblem("a".repeat(256))).toBeUndefined();
    expect(idProblem("a".repeat(257))).toBe("must have at most 256 characters");
    expect(idProblem("a".repeat(129), 128)).toBe("must have at most 128 characters");
  });
});
