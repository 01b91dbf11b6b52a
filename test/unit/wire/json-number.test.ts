import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFiniteNumber, longestNumber, numberEnd } from "../../../src/wire/json-number.js";
import { findJsonFault } from "../../../src/wire/json-syntax.js";

const isFiniteText = (text: string) => isFiniteNumber(Buffer.from(text), 0, text.length);

describe("isFiniteNumber", () => {
  it("knows without a conversion what becomes infinite", () => {
    const zeros = fc.nat({ max: 320 }).map((count) => "0".repeat(count));
    const digits = fc.oneof(
      fc.stringMatching(/^[0-9]{1,25}$/),
      fc.constantFrom(
        "179769313486231580793",
        "17976931348623157",
        "17976931348623159",
        "9".repeat(309),
        "9".repeat(308),
      ),
    );
    const whole = fc.tuple(digits, zeros).map(([text, more]) => (text + more).replace(/^0+(?=.)/, ""));
    const part = fc.oneof(
      fc.constant(""),
      fc.tuple(zeros, digits).map(([more, text]) => `.${more}${text}`),
    );
    const exponent = fc.oneof(
      fc.constant(""),
      fc.integer({ min: -700, max: 700 }).map((each) => `e${each}`),
    );
    fc.assert(
      fc.property(fc.constantFrom("", "-"), whole, part, exponent, (...pieces) => {
        const text = pieces.join("");
        expect(isFiniteText(text)).toBe(Number.isFinite(Number(text)));
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 1000) },
    );
  });

  it.each([
    [`${2n ** 1024n - 2n ** 970n}`, false],
    [`${2n ** 1024n - 2n ** 970n - 1n}`, true],
    [`${2n ** 1024n - 2n ** 970n - 1n}.9`, true],
    ["1.7976931348623157e308", true],
    ["1.797693134862315808e308", false],
    ["0e999999999", true],
    ["0.000e+999999999", true],
    [`1E${"9".repeat(400)}`, false],
    [`1e-${"9".repeat(400)}`, true],
    [`0.${"0".repeat(400)}1e709`, true],
    [`0.${"0".repeat(400)}1e710`, false],
  ])("reads %s", (text, expected) => {
    expect(isFiniteText(text)).toBe(expected);
    expect(Number.isFinite(Number(text))).toBe(expected);
  });
});

describe("a number with more digits than any needs", () => {
  it("is refused where it stands, and not read to its end", () => {
    const digits = "1".repeat(longestNumber);
    expect(findJsonFault(Buffer.from(`{"a":${digits.slice(0, 300)}}`), 9)).toBeUndefined();
    expect(findJsonFault(Buffer.from(`{"a":${digits}1}`), 9)).toEqual({ reason: "long_number", at: 5 });
    expect(numberEnd(Buffer.from(digits.repeat(5)), 0)).toBe(longestNumber + 1);
  });
});
