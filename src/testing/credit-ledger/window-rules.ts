import {
  admitted,
  day,
  denied,
  everywhere,
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

/** When windows begin and end. */
export function describeWindows({ describe, it, fixture }: RulesInput): void {
  describe("windows", () => {
    it.each([
      ["session", start + sessionMs],
      ["week", weekEnd],
      ["month", monthEnd],
    ] as const)("begins a new %s exactly at the end of the last", async (window, end) => {
      const account = await fixture({ [window]: 10 });
      await account.spend(10);
      account.clock.set(end - 1);
      expect((await account.reserve(1)).ok).toBe(false);
      account.clock.set(end);
      const { windows } = admitted(await account.reserve(1));
      expect(windows[window]).toMatchObject({ usedMicro: 0, heldMicro: 1, startsAt: end });
      account.clock.set(end + 1);
      expect((await account.windows())[window]).toMatchObject({ usedMicro: 0, heldMicro: 1, startsAt: end });
    });

    it.each([
      ["session", start + sessionMs],
      ["week", weekEnd],
      ["month", monthEnd],
    ] as const)("charges the %s of the admission, though it has ended", async (window, end) => {
      const account = await fixture({}, end - 30 * second);
      if (window === "session") {
        account.clock.set(start);
        await account.spend(1);
        account.clock.set(end - 30 * second);
      }
      const lease = await account.admit(10);
      account.clock.set(end);
      const settled = await account.ledger.settle(lease, { amountMicro: 7 });
      expect(settled.windows[window]).toMatchObject({ usedMicro: 0, heldMicro: 0 });
      await account.admit(2);
      expect((await account.windows())[window]).toMatchObject({ usedMicro: 0, heldMicro: 2, startsAt: end });
    });

    it("leaves a newer window alone when an older request settles", async () => {
      const account = await fixture({}, start);
      await account.spend(1);
      account.clock.set(start + sessionMs - second);
      const older = await account.admit(10);
      account.clock.set(start + sessionMs);
      await account.admit(2);
      expect(await account.counts()).toEqual({ session: [0, 2], week: [1, 12], month: [1, 12] });
      await account.ledger.settle(older, { amountMicro: 7 });
      expect(await account.counts()).toEqual({ session: [0, 2], week: [8, 2], month: [8, 2] });
    });

    it("lets all three windows end at one instant", async () => {
      const account = await fixture(
        { session: 5, week: 5, month: 5, anchor: Date.UTC(2026, 1, 16) },
        weekEnd - sessionMs,
      );
      await account.spend(5);
      account.clock.set(weekEnd - 30 * second);
      account.plan = { anchor: Date.UTC(2026, 1, 16) };
      const across = await account.admit(3);
      account.clock.set(weekEnd);
      await account.spend(1);
      await account.ledger.settle(across, { amountMicro: 3 });
      expect(await account.counts()).toEqual(everywhere(1, 0));
      expect((await account.windows()).month).toMatchObject({ startsAt: weekEnd, resetsAt: Date.UTC(2026, 3, 16) });
    });

    it("does not open a session by settling", async () => {
      const account = await fixture();
      const lease = await account.admit(10);
      account.clock.set(start + sessionMs);
      await account.ledger.renew([{ lease, observedMicro: 3, leaseMs: 60 * second }]);
      const { windows } = await account.ledger.settle(lease, { amountMicro: 7 });
      expect(windows.session).toMatchObject({ startsAt: null, resetsAt: null, usedMicro: 0, heldMicro: 0 });
    });

    it("closes a session when everything in it was released", async () => {
      const account = await fixture();
      const lease = await account.admit(10);
      expect((await account.ledger.release(lease)).windows.session.startsAt).toBeNull();
      account.clock.advance(hour);
      await account.admit(10);
      expect((await account.windows()).session.startsAt).toBe(start + hour);
    });

    it("keeps a session open while anything in it is used or held", async () => {
      const account = await fixture();
      const first = await account.admit(10);
      account.clock.advance(second);
      const other = await account.admit(5);
      await account.ledger.release(first);
      expect((await account.windows()).session).toMatchObject({ startsAt: start, heldMicro: 5 });
      await account.ledger.settle(other, { amountMicro: 1 });
      await account.ledger.release(await account.admit(5));
      expect((await account.windows()).session).toMatchObject({ startsAt: start, usedMicro: 1 });
    });

    it("closes a session whose only request cost nothing, or died unseen", async () => {
      const account = await fixture();
      await account.ledger.settle(await account.admit(10), { amountMicro: 0 });
      expect((await account.windows()).session.startsAt).toBeNull();
      await account.admit(10);
      account.clock.advance(60 * second);
      expect((await account.windows()).session.startsAt).toBeNull();
      await account.admit(10);
      expect((await account.windows()).session.startsAt).toBe(start + 60 * second);
    });
  });
}

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

/** Which window a denial names, and until when. */
export function describeDenial({ describe, it, fixture }: RulesInput): void {
  describe("a denial", () => {
    it("reports the window that is available last, and all of them", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 });
      await account.spend(10);
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "month", cause: "used", availableAt: monthEnd },
        { window: "week", cause: "used", availableAt: weekEnd },
        { window: "session", cause: "used", availableAt: start + sessionMs },
      ]);
    });

    it("puts the week first when it outlasts the month", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 }, Date.UTC(2026, 2, 31, 12));
      await account.spend(10);
      expect(denied(await account.reserve(1)).blocked.map(({ window }) => window)).toEqual([
        "week",
        "month",
        "session",
      ]);
    });

    it("puts the longer window first where two end at the same moment", async () => {
      const now = weekEnd - sessionMs;
      const account = await fixture({ session: 10, week: 10, month: 10, anchor: Date.UTC(2026, 1, 16) }, now);
      await account.spend(10);
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "month", cause: "used", availableAt: weekEnd },
        { window: "week", cause: "used", availableAt: weekEnd },
        { window: "session", cause: "used", availableAt: weekEnd },
      ]);
    });

    it("tells what is held from what is used", async () => {
      const account = await fixture({ session: 10 });
      const lease = await account.admit(10);
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "session", cause: "held", availableAt: start + 5 * second },
      ]);
      await account.ledger.settle(lease, { amountMicro: 9 });
      await account.admit(5);
      expect(denied(await account.reserve(1)).blocked).toMatchObject([{ cause: "held" }]);
    });

    it("lets an exhausted window outweigh one that is only held", async () => {
      const account = await fixture({ session: 10, month: 10 });
      await account.spend(5);
      const lease = await account.admit(5);
      await account.ledger.renew([{ lease, observedMicro: 5, leaseMs: 60 * second }]);
      account.plan = { session: 5, month: 10 };
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "session", cause: "used", availableAt: start + sessionMs },
        { window: "month", cause: "held", availableAt: start + 5 * second },
      ]);
    });

    it("never sends a caller beyond the window's end for what is held", async () => {
      const account = await fixture({ week: 10 }, weekEnd - 2 * second);
      await account.admit(10);
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "week", cause: "held", availableAt: weekEnd },
      ]);
    });

    it("admits a lone caller who waited until then", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 });
      await account.spend(10);
      const { blocked } = denied(await account.reserve(1));
      account.clock.set(blocked[0].availableAt - 1);
      expect((await account.reserve(1)).ok).toBe(false);
      account.clock.set(blocked[0].availableAt);
      expect((await account.reserve(1)).ok).toBe(true);
    });

    it("names the window's end for a limit of 0, or where none is open what it would be", async () => {
      const account = await fixture({ session: 0, week: 0, month: 0 });
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "month", cause: "used", availableAt: monthEnd },
        { window: "week", cause: "used", availableAt: weekEnd },
        { window: "session", cause: "used", availableAt: start + sessionMs },
      ]);
      account.plan = {};
      await account.spend(1);
      account.clock.advance(hour);
      account.plan = { session: 0 };
      expect(denied(await account.reserve(1)).blocked).toMatchObject([{ availableAt: start + sessionMs }]);
    });

    it("follows the plan: lowered below the use it denies, raised it admits at once", async () => {
      const account = await fixture({ session: 100 });
      await account.spend(50);
      account.plan = { session: 40 };
      expect(denied(await account.reserve(1)).windows.session).toMatchObject({ limitMicro: 40, usedMicro: 50 });
      account.plan = { session: 51 };
      expect((await account.reserve(1)).ok).toBe(true);
    });
  });
}
