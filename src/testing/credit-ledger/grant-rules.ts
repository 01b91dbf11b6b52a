import {
  type Lease,
  LedgerConflictError,
  LedgerInputError,
  type WindowName,
  windowNames,
} from "../../ledger/credit-ledger.js";
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

/** What a grant adds, and to which window. */
export function describeGrant({ describe, it, fixture }: RulesInput): void {
  describe("grant", () => {
    const grant = (account: Fixture, window: WindowName, amountMicro: number, id = unique("grant")) =>
      account.ledger.grant({ id, account: account.id, window, amountMicro, limits: account.limits });

    it.each(windowNames)("adds to the limit of the current %s only", async (window) => {
      const account = await fixture({ [window]: 10 });
      await account.spend(10);
      const states = await grant(account, window, 5);
      expect(states[window]).toMatchObject({ limitMicro: 10, bonusMicro: 5, usedMicro: 10 });
      expect(await account.windows()).toEqual(states);
      await account.spend(5);
      expect((await account.reserve(1)).ok).toBe(false);
      account.clock.set(states[window].resetsAt ?? 0);
      await account.spend(1);
      expect((await account.windows())[window]).toMatchObject({ bonusMicro: 0, usedMicro: 1 });
    });

    it("applies each id once", async () => {
      const account = await fixture({ week: 10 });
      const id = unique("grant");
      await grant(account, "week", 5, id);
      expect((await grant(account, "week", 5, id)).week.bonusMicro).toBe(5);
      await grant(account, "week", 5);
      expect((await account.windows()).week.bonusMicro).toBe(10);
      await expect(grant(account, "week", 6, id)).rejects.toBeInstanceOf(LedgerConflictError);
      await expect(grant(account, "month", 5, id)).rejects.toBeInstanceOf(LedgerConflictError);
    });

    it("grants no more than can be counted", async () => {
      const account = await fixture();
      await grant(account, "week", Number.MAX_SAFE_INTEGER);
      await expect(grant(account, "week", 1)).rejects.toBeInstanceOf(LedgerInputError);
      expect((await account.windows()).week.bonusMicro).toBe(Number.MAX_SAFE_INTEGER);
      await grant(account, "week", -Number.MAX_SAFE_INTEGER);
      expect((await account.windows()).week.bonusMicro).toBe(0);
    });

    it("takes back by a negative amount", async () => {
      const account = await fixture({ month: 10 });
      await grant(account, "month", -10);
      expect(denied(await account.reserve(1)).blocked).toMatchObject([{ window: "month", cause: "used" }]);
    });

    it("leaves an unlimited window unlimited", async () => {
      const account = await fixture();
      await grant(account, "week", -10);
      expect((await account.reserve(100)).ok).toBe(true);
    });

    it("needs an open session to grant to", async () => {
      const account = await fixture({ session: 10 });
      const id = unique("grant");
      await expect(grant(account, "session", 5, id)).rejects.toBeInstanceOf(LedgerInputError);
      expect((await account.windows()).session.startsAt).toBeNull();
      // What was refused was not used up.
      await account.spend(1);
      expect((await grant(account, "session", 5, id)).session).toMatchObject({ bonusMicro: 5, startsAt: start });
    });

    it("is the session's to its end, though the only request in it costs nothing", async () => {
      const account = await fixture({ session: 10 });
      const endings: ((lease: Lease) => Promise<unknown>)[] = [
        (lease) => account.ledger.release(lease),
        (lease) => account.ledger.settle(lease, { amountMicro: 0 }),
        async () => account.clock.advance(60 * second),
      ];
      const id = unique("grant");
      let lease = await account.admit(10);
      await grant(account, "session", 5, id);
      const open = { bonusMicro: 5, usedMicro: 0, heldMicro: 0, startsAt: start, resetsAt: start + sessionMs };
      for (const end of endings) {
        await end(lease);
        expect((await account.windows()).session).toMatchObject(open);
        expect((await grant(account, "session", 5, id)).session).toMatchObject(open);
        lease = await account.admit(10);
      }
      await account.ledger.settle(lease, { amountMicro: 14 });
      await account.spend(1);
      expect((await account.reserve(1)).ok).toBe(false);
      account.clock.set(start + sessionMs);
      // A repetition of the id neither brings the session back nor reports it as open.
      expect((await grant(account, "session", 5, id)).session).toMatchObject({ bonusMicro: 0, startsAt: null });
      await account.spend(1);
      expect((await account.windows()).session).toMatchObject({ bonusMicro: 0, usedMicro: 1 });
    });

    it("outlives a reset of its window", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 });
      await account.spend(10);
      for (const window of windowNames) await grant(account, window, 5);
      await account.ledger.reset(account.id, windowNames);
      const windows = await account.windows();
      for (const window of windowNames) expect(windows[window]).toMatchObject({ usedMicro: 0, bonusMicro: 5 });
      expect(windows.session.startsAt).toBe(start);
      await account.spend(14);
      await account.spend(1);
      expect((await account.reserve(1)).ok).toBe(false);
    });

    it("leaves an unused session open for a correction below zero, and closes it when all comes to 0", async () => {
      const account = await fixture({ session: 10 });
      const lease = await account.admit(10);
      await grant(account, "session", -4);
      await account.ledger.release(lease);
      expect((await account.windows()).session).toMatchObject({ bonusMicro: -4, startsAt: start });
      expect((await grant(account, "session", 4)).session.startsAt).toBeNull();
      expect((await account.windows()).session.startsAt).toBeNull();
      account.clock.advance(hour);
      await account.spend(1);
      expect((await account.windows()).session).toMatchObject({ bonusMicro: 0, startsAt: start + hour });
    });
  });
}

/** What a reset sets back. */
export function describeReset({ describe, it, fixture }: RulesInput): void {
  describe("reset", () => {
    it("clears the use of the windows it names", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 });
      await account.spend(10);
      await account.ledger.reset(account.id, ["week", "month"]);
      expect(await account.counts()).toEqual({ session: [10, 0], week: [0, 0], month: [0, 0] });
      expect(denied(await account.reserve(1)).blocked).toMatchObject([{ window: "session" }]);
      await account.ledger.reset(account.id, ["session"]);
      expect((await account.windows()).session.startsAt).toBeNull();
      account.clock.advance(hour);
      await account.spend(1);
      expect((await account.windows()).session).toMatchObject({ usedMicro: 1, startsAt: start + hour });
    });

    it("keeps what is held, and its session", async () => {
      const account = await fixture();
      await account.spend(10);
      const lease = await account.admit(5);
      await account.ledger.reset(account.id, windowNames);
      expect(await account.counts()).toEqual(everywhere(0, 5));
      expect((await account.windows()).session.startsAt).toBe(start);
      await account.ledger.settle(lease, { amountMicro: 4 });
      expect(await account.counts()).toEqual(everywhere(4, 0));
    });

    it("never lets a later giving back fall below zero", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: 60 * second }]);
      account.clock.advance(60 * second);
      await account.ledger.reset(account.id, windowNames);
      await account.ledger.release(lease);
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });

    it("leaves a window as it is from the moment on at which it ends", async () => {
      const account = await fixture();
      await account.spend(10);
      account.clock.set(start + sessionMs);
      await account.ledger.reset(account.id, ["session"]);
      account.clock.set(start + sessionMs - 1);
      expect(await account.counts()).toEqual(everywhere(10, 0));
    });

    it("does nothing to an unknown account", async () => {
      const account = await fixture();
      await account.ledger.reset(account.id, windowNames);
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });
  });
}

/** What a balance shows. */
export function describeBalance({ describe, it, fixture }: RulesInput): void {
  describe("balance", () => {
    it("shows an unknown account as unused", async () => {
      const account = await fixture({ session: 100, month: 7 });
      expect(await account.ledger.balance(account.id, account.limits)).toEqual({
        now: start,
        windows: {
          session: { limitMicro: 100, usedMicro: 0, heldMicro: 0, bonusMicro: 0, startsAt: null, resetsAt: null },
          week: {
            limitMicro: null,
            usedMicro: 0,
            heldMicro: 0,
            bonusMicro: 0,
            startsAt: weekEnd - 7 * day,
            resetsAt: weekEnd,
          },
          month: {
            limitMicro: 7,
            usedMicro: 0,
            heldMicro: 0,
            bonusMicro: 0,
            startsAt: Date.UTC(2026, 2, 1),
            resetsAt: monthEnd,
          },
        },
      });
    });

    it("shows expired holds as ended, with what they charge", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 4, leaseMs: 60 * second }]);
      await account.admit(10);
      account.clock.advance(60 * second);
      await account.admit(2);
      account.clock.advance(second);
      expect(await account.counts()).toEqual(everywhere(4, 2));
      expect(await account.counts()).toEqual(everywhere(4, 2));
    });

    it("opens no session", async () => {
      const account = await fixture();
      await account.windows();
      account.clock.advance(hour);
      await account.admit(1);
      expect((await account.windows()).session.startsAt).toBe(start + hour);
    });
  });
}
