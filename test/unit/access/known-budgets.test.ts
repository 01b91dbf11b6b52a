import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Generations } from "../../../src/access/budgets/generations.js";
import { KnownBudgets } from "../../../src/access/budgets/known-budgets.js";
import { budgetField, type CheckedBudget, checkBudgets } from "../../../src/records/budgets/budget-schema.js";

const tagNames = ["a", "a.b", "member"];
const values = ["1", "=", "a=b/c", "__proto__", "ö".repeat(128)];
const budget = fc.record({
  tag: fc.constantFrom(...tagNames),
  value: fc.option(fc.constantFrom(...values)),
  credits: fc.option(fc.record({ month: fc.nat(9) })),
  models: fc.option(fc.constant(["m"])),
});
const budgets = fc.uniqueArray(budget, { selector: budgetField, maxLength: 12 });
const tags = fc.dictionary(fc.constantFrom(...tagNames), fc.constantFrom(...values));

describe("the budgets of a caller", () => {
  it("are of each tag the first there is: of the value, of the account, of the plan's value, of the plan", () => {
    fc.assert(
      fc.property(tags, budgets, budgets, (given, own, ofPlan) => {
        const found = new KnownBudgets(given, checkBudgets(own)).under(checkBudgets(ofPlan))?.each ?? [];
        const named = (some: typeof own, tag: string, value: string | null) =>
          some.find((one) => one.tag === tag && one.value === value);
        const expected = Object.entries(given).flatMap(([tag, value]) => {
          const ranked = [
            ["own", named(own, tag, value)],
            ["account", named(own, tag, null)],
            ["plan", named(ofPlan, tag, value)],
            ["plan", named(ofPlan, tag, null)],
          ] as const;
          const [first] = ranked.filter(([, one]) => one !== undefined);
          if (first?.[1] === undefined) return [];
          const [origin, { credits, models }] = first;
          return [{ tag, value, origin, hasCaps: credits !== null, models: models ?? undefined }];
        });
        const actual = found.map(({ tag, value, origin, caps, models }) => ({
          ...{ tag, value, origin, hasCaps: caps !== undefined, models: models?.patterns },
        }));
        const byTag = (one: { tag: string }, other: { tag: string }) => (one.tag < other.tag ? -1 : 1);
        expect(actual.sort(byTag)).toEqual(expected.sort(byTag));
        expect(new Set(found.map(({ counters }) => counters)).size).toBe(found.length);
      }),
    );
  });

  it("are the same object while the plan's budgets are", () => {
    const ofPlan: CheckedBudget[] = [{ tag: "member", credits: { day: 1 } }];
    const known = new KnownBudgets({ member: "1" }, []);
    expect(known.under(ofPlan)).toBe(known.under(ofPlan));
    expect(known.under(undefined)).toBeUndefined();
    expect(known.under([{ tag: "member", credits: { day: 2 } }])?.caps).toBeDefined();
  });
});

describe("the numbers of accounts", () => {
  it("never come back, whatever is forgotten of them", () => {
    const generations = new Generations();
    let current = generations.of("a");
    const seen = new Set([current]);
    for (let n = 0; n < 25_000; n++) {
      // After the first change, the account is only forgotten.
      generations.next(n === 0 ? "a" : `b${n}`);
      const now = generations.of("a");
      if (now !== current) expect(seen.has(now)).toBe(false);
      current = now;
      seen.add(now);
    }
  });
});
