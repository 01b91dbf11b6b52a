import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addRateHeaders, rateDuration } from "../../../../src/call/admission/credit-headers.js";
import type { RateState } from "../../../../src/ledger/limits.js";

/** Reads a duration as Go's `time.ParseDuration` does, in milliseconds. */
function parseDuration(text: string): number {
  const match = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d{1,3})?)s)?(?:(\d+)ms)?$/.exec(text);
  if (match === null || text === "") throw new Error(`${text} is no duration.`);
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = match.slice(1).map((part) => Number(part ?? 0));
  return Math.round(hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + ms);
}

describe("a duration of the rate-limit headers", () => {
  it.each([
    [0, "0s"],
    [12, "12ms"],
    [999, "999ms"],
    [1000, "1s"],
    [8640, "8.64s"],
    [59_999, "59.999s"],
    [360_000, "6m0s"],
    [3_600_000, "1h0m0s"],
    [5_402_500, "1h30m2.5s"],
  ])("of %i ms is %s", (ms, text) => {
    expect(rateDuration(ms)).toBe(text);
  });

  it("is read back as it was, whatever it is", () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 ** 9 }), (ms) => {
        expect(parseDuration(rateDuration(ms))).toBe(ms);
      }),
    );
  });
});

describe("the rate-limit headers", () => {
  it("are of the limit of which the least is left, and have no place for concurrent calls", () => {
    const rate = fc.record({
      id: fc.uuid(),
      kind: fc.constantFrom("requests", "tokens", "concurrent"),
      limit: fc.nat({ max: 100 }),
      remaining: fc.nat({ max: 100 }),
      fullInMs: fc.nat({ max: 100_000 }),
    }) as fc.Arbitrary<RateState>;
    fc.assert(
      fc.property(fc.array(rate), (rates) => {
        const headers = addRateHeaders({ kept: "1" }, rates, undefined);
        expect(headers["kept"]).toBe("1");
        expect(Object.keys(headers).filter((name) => name.includes("concurrent"))).toEqual([]);
        for (const kind of ["requests", "tokens"]) {
          const left = rates.filter((one) => one.kind === kind).map(({ remaining }) => remaining);
          const shown = headers[`x-ratelimit-remaining-${kind}`];
          expect(shown).toBe(left.length === 0 ? undefined : String(Math.min(...left)));
        }
      }),
    );
  });
});
