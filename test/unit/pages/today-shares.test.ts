import { expect, it } from "vitest";
import { failureShare, marginShare } from "../../../src/pages/app/parts/today-shares.js";

it("says which part of all that was charged is margin, whatever has a cost", () => {
  // 100 charged, of which 50 have a cost, of 33.
  expect(marginShare({ margin: 17, credits: 100 })).toBe(0.17);
  expect(marginShare({ margin: -5, credits: 100 })).toBe(-0.05);
  expect(marginShare({ margin: null, credits: 100 })).toBeUndefined();
  expect(marginShare({ margin: 0, credits: 0 })).toBeUndefined();
});

it("counts no refusal as an error", () => {
  expect(failureShare({ requests: 95, refusals: 1000, failures: 5 })).toBe(0.05);
  expect(failureShare({ requests: 0, refusals: 1000, failures: 0 })).toBe(0);
  expect(failureShare({ requests: 0, refusals: 0, failures: 3 })).toBe(1);
  expect(failureShare({ requests: 10, refusals: null, failures: null })).toBeUndefined();
});
