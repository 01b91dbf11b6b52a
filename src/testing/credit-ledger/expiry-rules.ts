import { type Lease, LedgerClockError } from "../../ledger/credit-ledger.js";
import {
  day,
  denied,
  everywhere,
  type Fixture,
  hour,
  monthEnd,
  type RulesInput,
  second,
  sessionMs,
  start,
  unique,
  weekEnd,
} from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";

/** When a hold dies, and what its end changes. */
export function describeExpiry({ describe, it, fixture, holds }: RulesInput): void {
  describe("leases", () => {
    it("blocks stock until the lease ends, not longer", async () => {
      const account = await fixture({ session: 10 });
      await account.admit(10, { leaseMs: 1_000 });
      account.clock.advance(999);
      expect((await account.reserve(1)).ok).toBe(false);
      account.clock.advance(1);
      expect((await account.reserve(1)).ok).toBe(true);
    });

    it("frees its stock for good, though nothing else changes at that moment", async () => {
      const account = await fixture({ session: 10 });
      const lease = await account.admit(1);
      await account.ledger.settle(lease, { amountMicro: 1 });
      await account.admit(9, { leaseMs: 1_000 });
      account.clock.advance(1_000);
      // A repetition changes nothing itself.
      expect((await account.ledger.settle(lease, { amountMicro: 1 })).status).toBe("duplicate");
      expect(await account.counts()).toEqual(everywhere(1, 0));
      await account.spend(9);
      expect(await account.counts()).toEqual(everywhere(10, 0));
    });

    it("dies at its own moment, among others that die sooner and later", async () => {
      const account = await fixture();
      const leases = [1_000, 1_500, 1_900, 3_000, 60_000];
      for (const leaseMs of leases) await account.admit(1, { leaseMs });
      for (const [died, leaseMs] of leases.entries()) {
        for (const [moment, held] of [
          [leaseMs - 1, leases.length - died],
          [leaseMs, leases.length - died - 1],
        ] as const) {
          account.clock.set(start + moment);
          await account.admit(0);
          expect(await account.counts()).toEqual(everywhere(0, held));
        }
      }
    });

    it.each(["first", "last"])(
      "ends what is due in the order in which it died, with the free one made %s",
      async (made) => {
        const account = await fixture();
        const [free, paid] = made === "first" ? ["1", "2"] : ["2", "1"];
        const id = unique("id");
        const requests = [
          { amount: 0, id: `${id}-${free}` },
          { amount: 1, id: `${id}-${paid}`, leaseMs: second },
        ].sort((left, right) => (left.id < right.id ? -1 : 1));
        const leases = [];
        for (const { amount, ...more } of requests) leases.push(await account.admit(amount, more));
        const lease = leases.find(({ amountMicro }) => amountMicro === 0) as Lease;
        await account.ledger.renew([{ lease, observedMicro: 1, leaseMs: 15 * 60 * second }]);
        // The one that opened the session died first, and closed it; for the other's charge it is too late.
        account.clock.set(start + sessionMs);
        await account.ledger.reset(account.id, []);
        account.clock.set(start + sessionMs - 1);
        expect(await account.counts()).toEqual({ session: [0, 0], week: [1, 0], month: [1, 0] });
        expect((await account.windows()).session.startsAt).toBeNull();
      },
    );

    it(`lets ${holds} holds expire at once`, async () => {
      const account = await fixture({ session: 1e9 });
      for (let round = 0; round < holds / 100; round++) {
        await Promise.all(Array.from({ length: 100 }, () => account.admit(5)));
      }
      expect(await account.counts()).toEqual(everywhere(0, 5 * holds));
      account.clock.advance(60 * second);
      expect(await account.counts()).toEqual(everywhere(0, 0));
      await account.admit(1);
      expect(await account.counts()).toEqual(everywhere(0, 1));
    });
  });
}

/** What is left of an account that was forgotten. */
export function describeForget({ describe, it, fixture }: RulesInput): void {
  describe("forget", () => {
    it("leaves nothing of an account", async () => {
      const account = await fixture({ session: 10 });
      await account.spend(10);
      await account.ledger.forget(account.id);
      expect(await account.counts()).toEqual(everywhere(0, 0));
      expect((await account.windows()).session.startsAt).toBeNull();
      await account.ledger.forget(account.id);
      expect((await account.reserve(1)).ok).toBe(true);
    });

    it("drops the holds too", async () => {
      const account = await fixture();
      await account.admit(10);
      await account.ledger.forget(account.id);
      await account.admit(3);
      account.clock.advance(60 * second);
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });

    it.each([0, second])("is not undone by what ends %i ms later of the calls from before", async (ms) => {
      const account = await fixture();
      const [settled, seen, died] = [await account.admit(10), await account.admit(20), await account.admit(30)];
      const leases = [settled, seen, died, await account.admit(40), await account.admit(0)];
      await account.ledger.settle(settled, { amountMicro: 9 });
      await account.ledger.renew([{ lease: seen, observedMicro: 5, leaseMs: 900 * second }]);
      await account.ledger.renew([{ lease: died, observedMicro: 5, leaseMs: 60 * second }]);
      account.clock.advance(60 * second);
      // Some have died by then.
      await account.ledger.reset(account.id, []);
      await account.ledger.forget(account.id);
      account.clock.advance(ms);
      await expectNothingOf(account, leases);
      expect(await account.counts()).toEqual(everywhere(0, 0));
      expect((await account.windows()).session.startsAt).toBeNull();
      await expectNothingOf(account, leases);
    });

    it("is not undone while the account is used anew, whose own calls are charged", async () => {
      const account = await fixture();
      const before = [await account.admit(10), await account.admit(20)];
      await account.ledger.forget(account.id);
      // In the same millisecond.
      const [settled, late] = [await account.admit(3), await account.admit(4)];
      await expectNothingOf(account, before, 0);
      expect((await account.ledger.settle(settled, { amountMicro: 2 })).status).toBe("settled");
      account.clock.advance(60 * second);
      expect((await account.ledger.settle(late, { amountMicro: 5 })).status).toBe("late");
      await account.ledger.forget(account.id);
      account.clock.advance(hour);
      const again = await account.admit(6);
      await expectNothingOf(account, [...before, settled, late], 0);
      expect((await account.ledger.settle(again, { amountMicro: 7 })).status).toBe("settled");
      expect((await account.ledger.settle(await account.lostLease(8), { amountMicro: 8 })).status).toBe("recovered");
      expect(await account.counts()).toEqual(everywhere(15, 0));
    });

    it("is not undone for a day", async () => {
      const account = await fixture();
      const leases = [await account.admit(10), await account.admit(20)];
      await account.ledger.forget(account.id);
      for (let hours = 0; hours < 23; hours++) {
        account.clock.advance(hour);
        await account.spend(1);
      }
      const since = start + 23 * hour;
      for (const lease of leases) {
        const late = await account.ledger.settle(lease, { amountMicro: 5, mayBeDuplicateSince: since });
        expect(late.status).toBe("duplicate");
      }
      expect((await account.windows()).week).toMatchObject({ usedMicro: 23, heldMicro: 0 });
    });

    const expectNothingOf = async (account: Fixture, leases: readonly Lease[], entries = 0) => {
      const renewals = leases.map((lease) => ({ lease, observedMicro: 50, leaseMs: 60 * second }));
      expect(await account.ledger.renew(renewals)).toEqual(leases.map(() => "closed"));
      for (const [index, lease] of leases.entries()) {
        const attempt = { amountMicro: 7, mayBeDuplicateSince: start };
        const ending = index % 2 === 0 ? account.ledger.settle(lease, attempt) : account.ledger.release(lease);
        expect((await ending).status).toBe("duplicate");
        expect((await account.ledger.settle(lease, { amountMicro: 7 })).status).toBe("duplicate");
      }
      const page = await account.ledger.history?.({ account: account.id });
      expect(page?.entries.filter(({ id }) => leases.some((lease) => lease.id === id)) ?? []).toHaveLength(entries);
    };
  });
}

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
