import { day, denied, hour, second, sessionMs, start, unique, weekEnd } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

/** Which instance of a window counts, once anchors move and windows overlap. */
export function describeWindowInstances({ describe, it, fixture }: RulesInput): void {
  describe("windows", () => {
    it.each([
      ["later", start - day],
      ["earlier", start - 3 * day],
      ["now", start],
      ["in the future", start + 100 * day + hour],
    ])("keeps an open window to its end, though the anchor was moved so that another began %s", async (_, anchor) => {
      const account = await fixture({ week: 10 });
      await account.spend(10);
      const before = await account.windows();
      account.plan = { week: 10, anchor };
      expect((await account.windows()).week).toEqual(before.week);
      expect(denied(await account.reserve(1)).blocked[0].availableAt).toBe(weekEnd);
      account.clock.set(weekEnd - 1);
      expect((await account.windows()).week).toEqual(before.week);
    });

    it("counts by the moved anchor from the end of the open window on, every charge once", async () => {
      const account = await fixture({ week: 10 });
      await account.spend(9);
      // Its weeks begin on Wednesdays, 09:30: one lies around the end of the open week.
      account.plan = { week: 10, anchor: start };
      const lease = await account.admit(0);
      account.clock.set(weekEnd);
      expect((await account.windows()).week).toMatchObject({
        usedMicro: 0,
        startsAt: start,
        resetsAt: start + 7 * day,
      });
      await account.ledger.settle(lease, { amountMicro: 4 });
      expect((await account.windows()).week.usedMicro).toBe(0);
      await account.spend(3);
      expect((await account.windows()).week.usedMicro).toBe(3);
      account.clock.set(start + 7 * day);
      expect((await account.windows()).week).toMatchObject({
        usedMicro: 0,
        startsAt: start + 7 * day,
        resetsAt: start + 14 * day,
      });
    });

    it("keeps holds and grants of an open window, too, when the anchor moves", async () => {
      const account = await fixture({ month: 10 });
      const lease = await account.admit(4);
      const grant = { id: unique("grant"), account: account.id, window: "month", amountMicro: 5 } as const;
      await account.ledger.grant({ ...grant, limits: account.limits });
      account.plan = { month: 10, anchor: start - hour };
      expect((await account.windows()).month).toMatchObject({ bonusMicro: 5, heldMicro: 4, usedMicro: 0 });
      await account.ledger.settle(lease, { amountMicro: 7 });
      expect((await account.windows()).month).toMatchObject({ bonusMicro: 5, heldMicro: 0, usedMicro: 7 });
    });

    it("ends a window when it was said to end, though the anchor was moved", async () => {
      const account = await fixture({ month: 10, anchor: Date.UTC(2026, 1, 28) });
      await account.spend(10);
      const { blocked } = denied(await account.reserve(1));
      expect(blocked[0].availableAt).toBe(Date.UTC(2026, 2, 28));
      account.plan = { month: 10, anchor: Date.UTC(2026, 0, 31) };
      expect((await account.reserve(1)).ok).toBe(false);
      account.clock.set(blocked[0].availableAt);
      await account.admit(1);
      expect((await account.windows()).month).toMatchObject({
        usedMicro: 0,
        heldMicro: 1,
        startsAt: Date.UTC(2026, 2, 28),
        resetsAt: Date.UTC(2026, 2, 31),
      });
    });

    it("does not bring back a session older than the newest", async () => {
      const account = await fixture();
      const older = await account.admit(10);
      account.clock.advance(60 * second);
      const { session, ...calendar } = account.limits;
      const limits = { session: { ...session, lengthMs: 60 * second }, ...calendar };
      await account.ledger.settle(await account.admit(5, { limits }), { amountMicro: 5 });
      account.clock.advance(60 * second);
      expect((await account.windows()).session.startsAt).toBeNull();
      await account.ledger.settle(older, { amountMicro: 7 });
      expect((await account.windows()).session.startsAt).toBeNull();
      expect((await account.windows()).week.usedMicro).toBe(12);
    });

    it("tells each lease its own session, also when two would end at one moment", async () => {
      const account = await fixture();
      await account.ledger.release(await account.admit(1));
      account.clock.advance(hour);
      const { session, ...calendar } = account.limits;
      const shorter = { session: { ...session, lengthMs: sessionMs - hour }, ...calendar };
      const lease = await account.admit(1, { limits: shorter });
      expect(lease.starts.session).toBe(start + hour);
      expect(lease.ends.session).toBe(start + sessionMs);
      await account.ledger.release(lease);
      expect((await account.admit(1)).ends.session).toBe(start + hour + sessionMs);
    });

    it("takes up no window for a release", async () => {
      const account = await fixture({ anchor: start - day });
      const lease = await account.lostLease(10);
      account.plan = {};
      const { limits, id: accountId } = account;
      await account.ledger.grant({
        id: unique("grant"),
        account: accountId,
        window: "month",
        amountMicro: 1,
        limits,
      });
      await account.ledger.release(lease);
      expect((await account.windows()).week.startsAt).toBe(weekEnd - 7 * day);
    });

    it("puts no charge in the place of a window that is open", async () => {
      const account = await fixture({ session: 100 }, start + 6 * hour);
      const later = await account.admit(0);
      account.clock.set(start);
      await account.spend(60);
      await account.ledger.settle(later, { amountMicro: 1 });
      expect((await account.windows()).session).toMatchObject({ usedMicro: 60, startsAt: start });
      expect((await account.windows()).week.usedMicro).toBe(61);
    });
  });
}
