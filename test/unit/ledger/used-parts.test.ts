import { expect, it } from "vitest";
import { type UsedEntry, usedParts } from "../../../src/ledger/usage/usage-total.js";

const tags = { input: 10, cachedInput: 4, cacheWrite: 2, output: 5, reasoning: 3, searches: 1, model: "m" };
const tokens = { input: 10, cachedInput: 4, cacheWrite: 2, output: 5, reasoning: 3, searches: 1 };
const none = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };

function entry(kind: UsedEntry["kind"], amountMicro: number, more: Partial<UsedEntry> = {}): UsedEntry {
  return { id: "1", kind, at: 1, amountMicro, starts: {}, tags: {}, ...more };
}

it("what an entry used is the plan's, prepaid, or of both, and its tokens are counted once", () => {
  expect(usedParts(entry("charge", 10, { tags }))).toEqual([
    { requests: 1, chargedMicro: 10, tokens, funding: "plan" },
  ]);
  expect(usedParts(entry("charge", 10, { tags, prepaidMicro: 10 }))).toEqual([
    { requests: 1, chargedMicro: 10, tokens, funding: "prepaid" },
  ]);
  expect(usedParts(entry("charge", 10, { tags, prepaidMicro: 3 }))).toMatchObject([
    { requests: 1, chargedMicro: 7, tokens, funding: "plan" },
    { requests: 0, chargedMicro: 3, tokens: none, funding: "prepaid" },
  ]);
});

it("what moves no credits of a call is no use, and a checkpoint is no request", () => {
  for (const kind of ["checkpoint", "release"] as const) {
    expect(usedParts(entry(kind, 0))).toEqual([]);
    expect(usedParts(entry(kind, -4))).toEqual([{ requests: 0, chargedMicro: -4, tokens: none, funding: "plan" }]);
  }
  for (const kind of ["grant", "topup", "deduction", "expiry", "reset", "unresolved"] as const) {
    expect(usedParts(entry(kind, 5))).toEqual([]);
  }
  expect(usedParts(entry("charge", 0))).toEqual([{ requests: 1, chargedMicro: 0, tokens: none, funding: "plan" }]);
});

it("tags that are no numbers are no counts", () => {
  const texts = { input: "10", cacheWrite: "2", searches: "1", output: 5 };
  expect(usedParts(entry("charge", 1, { tags: texts }))).toEqual([
    { requests: 1, chargedMicro: 1, tokens: { ...none, output: 5 }, funding: "plan" },
  ]);
});
