import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { UsageTotal } from "../../../src/ledger/usage/usage-request.js";
import { TotalSums } from "../../../src/ledger/usage/usage-sums.js";
import type { UsedEntry } from "../../../src/ledger/usage/usage-total.js";

const micro = fc.integer({ min: 0, max: 1_000_000 });
const costs = fc.option(micro, { nil: undefined });
const kinds = fc.constantFrom("charge" as const, "checkpoint" as const, "release" as const, "topup" as const);
const entries = fc.array(
  fc.record({
    kind: kinds,
    charged: micro,
    prepaidShare: fc.double({ min: 0, max: 1, noNaN: true }),
    cost: costs,
    team: fc.constantFrom("red", "blue"),
  }),
  { maxLength: 30 },
);

interface Given {
  kind: UsedEntry["kind"];
  charged: number;
  prepaidShare: number;
  cost: number | undefined;
  team: string;
}

function toEntry({ kind, charged, prepaidShare, cost, team }: Given): UsedEntry {
  return {
    id: "call",
    kind,
    at: 5,
    amountMicro: charged,
    prepaidMicro: Math.floor(charged * prepaidShare),
    starts: { session: 0, week: 0, month: 0 },
    tags: { "tag.team": team, ...(cost !== undefined && { costMicro: cost }) },
  };
}

function totalsOf(all: readonly UsedEntry[], by: readonly string[]): readonly UsageTotal[] {
  const sums = new TotalSums({ periods: [0, 10], by, where: {} });
  for (const entry of all) sums.addEntry("account", entry);
  return sums.list();
}

function sumOf(totals: readonly UsageTotal[], member: "chargedMicro" | "costMicro" | "costedMicro"): number {
  return totals.reduce((sum, total) => sum + (total[member] ?? 0), 0);
}

describe("what calls cost", () => {
  it("is the same in all, however it is told apart", () => {
    fc.assert(
      fc.property(entries, (given) => {
        const all = given.map(toEntry);
        const used = given.filter(({ kind, charged }) => kind === "charge" || (kind !== "topup" && charged !== 0));
        const known = used.filter(({ cost }) => cost !== undefined);
        const expected = {
          chargedMicro: used.reduce((sum, { charged }) => sum + charged, 0),
          costMicro: known.reduce((sum, { cost = 0 }) => sum + cost, 0),
          costedMicro: known.reduce((sum, { charged }) => sum + charged, 0),
        };
        for (const by of [[], ["funding"], ["tag.team"], ["tag.team", "funding"]]) {
          const totals = totalsOf(all, by);
          const found = {
            chargedMicro: sumOf(totals, "chargedMicro"),
            costMicro: sumOf(totals, "costMicro"),
            costedMicro: sumOf(totals, "costedMicro"),
          };
          expect({ by, ...found }).toEqual({ by, ...expected });
        }
      }),
    );
  });
});
