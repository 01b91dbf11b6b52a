import { LedgerClockError } from "../../ledger/credit-ledger.js";
import { day, denied, everywhere, hour, monthEnd, second, start, unique, weekEnd } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

/** Whose clock counts, and what its steps do. */
export function describeClock({ describe, it, fixture }: RulesInput): void {
  describe("windows", () => {
    it("counts months from the original anchor", async () => {
      const anchor = Date.UTC(2026, 0, 31, 6);
      const account = await fixture({ anchor }, anchor);
      for (const next of [Date.UTC(2026, 1, 28, 6), Date.UTC(2026, 2, 31, 6), Date.UTC(2026, 3, 30, 6)]) {
        await account.spend(1);
        expect((await account.windows()).month).toMatchObject({ usedMicro: 1, resetsAt: next });
        account.clock.set(next);
        expect((await account.windows()).month).toMatchObject({ usedMicro: 0, startsAt: next });
      }
    });

    it("takes its own clock, wherever in the caller's bounds that is", async () => {
      for (const skewMs of [-8 * day, -hour, hour, 6 * day]) {
        const account = await fixture({ week: 10, skewMs });
        await account.spend(10);
        expect((await account.windows()).week).toMatchObject({ usedMicro: 10, resetsAt: weekEnd });
      }
    });

    it("begins a week in its first millisecond, also where the caller's clock is behind or ahead", async () => {
      for (const skewMs of [-hour, 0, hour]) {
        const account = await fixture({ week: 10, skewMs }, weekEnd);
        await account.spend(10);
        expect((await account.windows()).week).toMatchObject({ startsAt: weekEnd, resetsAt: weekEnd + 7 * day });
      }
    });

    it("refuses a caller whose clock is more than a window away", async () => {
      for (const skewMs of [-15 * day, 15 * day]) {
        const account = await fixture({ week: 10, skewMs });
        await expect(account.reserve(1)).rejects.toBeInstanceOf(LedgerClockError);
        await expect(account.windows()).rejects.toBeInstanceOf(LedgerClockError);
        const { id: accountId, limits } = account;
        const grant = { id: unique("grant"), account: accountId, window: "month" as const, amountMicro: 1, limits };
        await expect(account.ledger.grant(grant)).rejects.toBeInstanceOf(LedgerClockError);
        // Nor has anything been kept of it.
        account.plan = { week: 10 };
        expect(await account.counts()).toEqual(everywhere(0, 0));
        await account.spend(10);
        expect(await account.counts()).toEqual(everywhere(10, 0));
      }
    });

    it.each([second, hour, 8 * day])("refills nothing when the clock steps back by %i ms", async (ms) => {
      const account = await fixture({ session: 10, week: 10, month: 10 });
      await account.spend(10);
      const before = await account.windows();
      account.clock.advance(-ms);
      expect(denied(await account.reserve(1)).blocked.map(({ window }) => window)).toEqual([
        "month",
        "week",
        "session",
      ]);
      expect(await account.windows()).toEqual(before);
    });

    it("refills nothing when the clock goes ahead past the month and comes back", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 });
      await account.spend(10);
      account.clock.set(monthEnd + 8 * day);
      await account.spend(10);
      account.clock.set(start);
      for (const state of Object.values(await account.windows())) expect(state.usedMicro).toBe(10);
      expect((await account.reserve(1)).ok).toBe(false);
    });
  });
}
