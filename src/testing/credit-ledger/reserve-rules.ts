import { LedgerConflictError, LedgerInputError, windowNames } from "../../ledger/credit-ledger.js";
import {
  admitted,
  countsOf,
  day,
  denied,
  everywhere,
  monthEnd,
  type RulesInput,
  second,
  sessionMs,
  start,
  unique,
  weekEnd,
} from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";

/** What is admitted, held and denied. */
export function describeReserve({ describe, it, fixture }: RulesInput): void {
  describe("reserve", () => {
    it("holds the whole amount in all three windows", async () => {
      const account = await fixture({ session: 100, week: 500, month: 1_500 });
      const result = admitted(await account.reserve(30));
      expect(result).toMatchObject({ now: start, replayed: false });
      expect(result.windows).toEqual({
        session: {
          limitMicro: 100,
          usedMicro: 0,
          heldMicro: 30,
          bonusMicro: 0,
          startsAt: start,
          resetsAt: start + sessionMs,
        },
        week: {
          limitMicro: 500,
          usedMicro: 0,
          heldMicro: 30,
          bonusMicro: 0,
          startsAt: weekEnd - 7 * day,
          resetsAt: weekEnd,
        },
        month: {
          limitMicro: 1_500,
          usedMicro: 0,
          heldMicro: 30,
          bonusMicro: 0,
          startsAt: Date.UTC(2026, 2, 1),
          resetsAt: monthEnd,
        },
      });
      expect(result.lease).toMatchObject({
        account: account.id,
        amountMicro: 30,
        expiresAt: start + 60 * second,
        starts: { session: start, week: weekEnd - 7 * day, month: Date.UTC(2026, 2, 1) },
        ends: { session: start + sessionMs, week: weekEnd, month: monthEnd },
      });
      expect(await account.windows()).toEqual(result.windows);
    });

    it.each(windowNames)("admits while anything is left of the %s, and not beyond", async (window) => {
      const account = await fixture({ [window]: 100 });
      await account.admit(60);
      await account.admit(39);
      await account.admit(50);
      expect(denied(await account.reserve(1)).blocked).toMatchObject([{ window }]);
      expect(await account.counts()).toEqual(everywhere(0, 149));
    });

    it("admits an amount that equals what remains, and one that exceeds it", async () => {
      for (const amount of [100, 101]) {
        const account = await fixture({ session: 100 });
        await account.admit(amount);
        expect((await account.reserve(1)).ok).toBe(false);
      }
    });

    it("never overdraws when strict", async () => {
      const account = await fixture({ session: 100, week: 120 });
      await account.admit(60, { strict: true });
      expect(denied(await account.reserve(41, { strict: true })).blocked).toMatchObject([
        { window: "session", cause: "held", availableAt: start + 5 * second },
      ]);
      await account.admit(40, { strict: true });
      expect((await account.reserve(0, { strict: true })).ok).toBe(false);
    });

    it("refuses as used, when strict, what the whole window cannot hold", async () => {
      const account = await fixture({ session: 100 });
      expect(denied(await account.reserve(101, { strict: true })).blocked).toMatchObject([
        { window: "session", cause: "used", availableAt: start + sessionMs },
      ]);
    });

    it("counts unlimited windows without ever blocking", async () => {
      const account = await fixture();
      await account.spend(1e12);
      await account.admit(1e12);
      expect(await account.counts()).toEqual(everywhere(1e12, 1e12));
      account.plan = { month: 1 };
      expect((await account.reserve(1)).ok).toBe(false);
    });

    it("changes nothing by a denial", async () => {
      const account = await fixture({ week: 10 });
      await account.spend(10);
      const before = await account.windows();
      const result = denied(await account.reserve(5));
      expect(result.windows).toEqual(before);
      expect(await account.windows()).toEqual(before);
    });

    it("opens no session by a denial", async () => {
      const account = await fixture({ week: 0 });
      expect(denied(await account.reserve(5)).windows.session.startsAt).toBeNull();
      expect((await account.windows()).session.startsAt).toBeNull();
    });

    it("holds nothing and opens no session for an amount of 0", async () => {
      const account = await fixture({ session: 10 });
      const lease = await account.admit(0);
      expect((await account.windows()).session.startsAt).toBeNull();
      account.clock.advance(second);
      expect((await account.ledger.settle(lease, { amountMicro: 0 })).status).toBe("settled");
      expect((await account.windows()).session.startsAt).toBeNull();
      await account.spend(10);
      expect((await account.windows()).session.startsAt).toBe(start + second);
      expect((await account.reserve(0)).ok).toBe(false);
    });

    it("charges what was reserved as 0 but did cost something", async () => {
      const account = await fixture({ session: 10 });
      const lease = await account.admit(0);
      account.clock.advance(second);
      await account.ledger.settle(lease, { amountMicro: 4 });
      expect(await account.counts()).toEqual(everywhere(4, 0));
      expect((await account.windows()).session.startsAt).toBe(start);
    });
  });
}

/** How the id and the account identify a reservation. */
export function describeReserveIds({ describe, it, fixture, ids }: RulesInput): void {
  describe("reserve", () => {
    it("answers the same id with the first lease, and holds once", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      const { lease } = admitted(await account.ledger.reserve(request));
      account.clock.advance(second);
      const open = admitted(await account.ledger.reserve(request));
      expect(open).toMatchObject({ lease, replayed: true, now: start + second });
      expect(await account.counts()).toEqual(everywhere(0, 30));
      await account.ledger.settle(lease, { amountMicro: 20 });
      expect(admitted(await account.ledger.reserve(request))).toMatchObject({ lease, replayed: true });
      expect(await account.counts()).toEqual(everywhere(20, 0));
    });

    it("replays even when the account is exhausted by now", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      await account.ledger.reserve(request);
      await account.admit(100);
      expect(admitted(await account.ledger.reserve(request)).replayed).toBe(true);
    });

    it("does not revive an expired id by repeating it", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      await account.ledger.reserve(request);
      account.clock.advance(60 * second);
      expect(admitted(await account.ledger.reserve(request)).replayed).toBe(true);
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });

    it("decides anew about an id that was denied", async () => {
      const account = await fixture({ session: 0 });
      const request = account.request(30);
      denied(await account.ledger.reserve(request));
      account.plan = { session: 100 };
      expect(admitted(await account.ledger.reserve({ ...request, limits: account.limits })).replayed).toBe(false);
    });

    it("refuses the same id with another amount", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      const { lease } = admitted(await account.ledger.reserve(request));
      await expect(account.ledger.reserve({ ...request, amountMicro: 31 })).rejects.toBeInstanceOf(LedgerConflictError);
      await account.ledger.settle(lease, { amountMicro: 30 });
      await expect(account.ledger.reserve({ ...request, amountMicro: 31 })).rejects.toBeInstanceOf(LedgerConflictError);
      expect(await account.counts()).toEqual(everywhere(30, 0));
    });

    it.runIf(ids === "unique")("refuses the same id with another account", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      await account.ledger.reserve(request);
      const other = unique("account");
      await expect(account.ledger.reserve({ ...request, account: other })).rejects.toBeInstanceOf(LedgerConflictError);
      const { windows } = await account.ledger.balance(other, account.limits);
      expect(countsOf(windows)).toEqual(everywhere(0, 0));
    });

    it("keeps accounts apart", async () => {
      const account = await fixture({ session: 100 });
      await account.spend(100);
      expect((await account.reserve(1, { account: unique("account") })).ok).toBe(true);
    });
  });
}

/** How much can be held at once. */
export function describeReserveBounds({ describe, it, fixture }: RulesInput): void {
  describe("reserve", () => {
    it("takes the largest amount there is, and no more on top of it", async () => {
      const account = await fixture();
      const lease = await account.admit(Number.MAX_SAFE_INTEGER);
      await expect(account.reserve(1)).rejects.toBeInstanceOf(LedgerInputError);
      await account.ledger.settle(lease, { amountMicro: Number.MAX_SAFE_INTEGER });
      expect(await account.counts()).toEqual(everywhere(Number.MAX_SAFE_INTEGER, 0));
      await account.spend(1);
      expect(await account.counts()).toEqual(everywhere(Number.MAX_SAFE_INTEGER, 0));
    });

    it("raises no hold beyond what can be counted", async () => {
      const account = await fixture();
      await account.admit(Number.MAX_SAFE_INTEGER - 10);
      const lease = await account.admit(5);
      await account.ledger.renew([{ lease, observedMicro: 8, leaseMs: 60 * second }]);
      expect((await account.windows()).month.heldMicro).toBe(Number.MAX_SAFE_INTEGER - 2);
      expect(await account.ledger.renew([{ lease, observedMicro: 100, leaseMs: 60 * second }])).toEqual(["renewed"]);
      expect((await account.windows()).month.heldMicro).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
      await account.ledger.settle(lease, { amountMicro: 1 });
      expect(await account.counts()).toEqual(everywhere(1, Number.MAX_SAFE_INTEGER - 10));
    });

    it("admits no more in parallel than one after the other", async () => {
      const account = await fixture({ session: 5_000, week: 20_000 });
      const amounts = Array.from({ length: 1_000 }, (_, index) => 1 + ((index * 7_919) % 97));
      const results = await Promise.all(amounts.map((amount) => account.reserve(amount)));
      const held = results.reduce((sum, result) => sum + (result.ok ? result.lease.amountMicro : 0), 0);
      expect(held).toBeGreaterThanOrEqual(5_000);
      expect(held).toBeLessThan(5_000 + 97);
      expect(await account.counts()).toEqual(everywhere(0, held));

      const settled = results.flatMap((result) => (result.ok ? [result.lease] : []));
      await Promise.all(settled.map((lease) => account.ledger.settle(lease, { amountMicro: 3 })));
      expect(await account.counts()).toEqual(everywhere(3 * settled.length, 0));
    });
  });
}
