import { windowNames } from "../../ledger/credit-ledger.js";
import {
  admitted,
  day,
  denied,
  everywhere,
  monthEnd,
  second,
  sessionMs,
  start,
  weekEnd,
} from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

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
