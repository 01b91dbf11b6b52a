import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rendezvous } from "../../../../src/ledger/id-hash.js";
import { accountNames } from "./shards-test.js";

const names = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 8 });

function shares(of: readonly string[], accounts: readonly string[]): number[] {
  const counts = new Map(of.map((name) => [name, 0]));
  for (const account of accounts) {
    const name = rendezvous(of, account);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts.values()].map((count) => count / accounts.length);
}

describe("rendezvous", () => {
  it("returns for ever what it returned in the first version", () => {
    const chosen = accountNames(12).map((account) => rendezvous(["one", "two", "three"], account));
    const first = ["three", "two", "one", "two", "two", "one", "two", "three", "two", "two", "three", "one"];
    expect(chosen).toEqual(first);
  });

  it("spreads accounts evenly", () => {
    const accounts = accountNames(20_000);
    for (const count of [2, 3, 10]) {
      const of = Array.from({ length: count }, (_, index) => `redis-${index}`);
      for (const share of shares(of, accounts)) expect(Math.abs(share * count - 1)).toBeLessThan(0.1);
    }
  });

  it("does not depend on the order of the names", () => {
    fc.assert(
      fc.property(names, fc.string(), (of, account) => {
        expect(rendezvous(of.toReversed(), account)).toBe(rendezvous(of, account));
      }),
    );
  });

  it("moves accounts only to a name that is added, and only from one that is removed", () => {
    fc.assert(
      fc.property(names, fc.string(), fc.string(), (of, added, account) => {
        const before = rendezvous(of, account);
        const after = rendezvous([...new Set([...of, added])], account);
        expect([before, added]).toContain(after);
        const rest = of.filter((name) => name !== of[0]);
        if (before !== of[0]) expect(rendezvous(rest, account)).toBe(before);
      }),
    );
  });
});
