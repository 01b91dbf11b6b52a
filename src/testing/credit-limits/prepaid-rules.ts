import { LedgerConflictError, LedgerInputError } from "../../ledger/credit-ledger.js";
import {
  admitted,
  day,
  denied,
  everywhere,
  hour,
  minute,
  type RulesInput,
  second,
  start,
  unique,
} from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { creditsNow, prepaidLeft, topUp } from "./limits-fixture.js";

/** What prepaid credits fund, and how they end. */
export function describePrepaid({ describe, it, fixture, ids }: RulesInput): void {
  describe("prepaid credits", () => {
    it("pay what the windows have no room for, and leave them as they are", async () => {
      const account = await fixture({ session: 10 });
      await topUp(account, 100);
      const planned = await account.admit(10);
      expect(planned.prepaidMicro).toBe(0);
      await account.ledger.settle(planned, { amountMicro: 10 });
      const lease = await account.admit(30);
      expect([lease.prepaidAt, lease.prepaidMicro]).toEqual([start, 30]);
      expect(await account.counts()).toEqual(everywhere(10, 0));
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(100, { heldMicro: 30 }));
      const { prepaid, prepaidMicro, windows } = await account.ledger.settle(lease, { amountMicro: 25 });
      expect(prepaid).toEqual(prepaidLeft(75));
      expect(prepaidMicro).toBe(25);
      expect(windows.session.usedMicro).toBe(10);
    });

    it("open no session", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      await account.ledger.settle(await account.admit(5), { amountMicro: 5 });
      expect((await account.windows()).session.startsAt).toBeNull();
    });

    it("are overdrawn by less than one call, and paid back first", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      const lease = await account.admit(100);
      expect(denied(await account.reserve(1)).blocked[0].window).toBe("week");
      await account.ledger.settle(lease, { amountMicro: 60 });
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(-50));
      expect((await account.reserve(1)).ok).toBe(false);
      expect(await topUp(account, 50)).toEqual(prepaidLeft(0));
      expect((await account.reserve(1)).ok).toBe(false);
      expect((await topUp(account, 1)).lots).toEqual([{ expiresAt: null, leftMicro: 1 }]);
      expect((await account.reserve(1)).ok).toBe(true);
    });

    it("admit nothing that a strict reservation does not find", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      expect((await account.reserve(11, { strict: true })).ok).toBe(false);
      expect((await account.reserve(10, { strict: true })).ok).toBe(true);
    });

    it("are used in the order of their expiry", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      await topUp(account, 10, { expiresAt: start + 2 * hour });
      await topUp(account, 10, { expiresAt: start + hour });
      await account.ledger.settle(await account.admit(15), { amountMicro: 15 });
      expect((await creditsNow(account)).prepaid?.lots).toEqual([
        { expiresAt: start + 2 * hour, leftMicro: 5 },
        { expiresAt: null, leftMicro: 10 },
      ]);
    });

    it("of the same expiry are one lot", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 1, { expiresAt: start + hour });
      expect((await topUp(account, 2, { expiresAt: start + hour })).lots).toEqual([
        { expiresAt: start + hour, leftMicro: 3 },
      ]);
    });

    it("admit nothing once they have expired", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10, { expiresAt: start + hour });
      account.clock.set(start + hour - 1);
      expect((await account.reserve(1)).ok).toBe(true);
      account.clock.set(start + hour);
      expect((await account.reserve(1)).ok).toBe(false);
      expect((await creditsNow(account)).prepaid?.balanceMicro).toBe(0);
    });

    it("pay for a call that was admitted before they expired", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10, { expiresAt: start + 30 * second });
      await topUp(account, 10);
      const lease = await account.admit(8);
      account.clock.advance(40 * second);
      const { prepaid } = await account.ledger.settle(lease, { amountMicro: 8 });
      expect(prepaid).toEqual(prepaidLeft(10));
      await account.spend(1);
      const entries = (await account.ledger.history?.({ account: account.id }))?.entries ?? [];
      const lapsed = entries.find(({ kind }) => kind === "expiry");
      if (account.ledger.history) expect(lapsed).toMatchObject({ amountMicro: -2, starts: {} });
    });

    it("do not pay for a call that the windows have room for by its end", async () => {
      const account = await fixture({ session: 10 });
      await account.spend(10);
      await topUp(account, 100);
      const lease = await account.admit(20);
      await account.ledger.reset(account.id, ["session"]);
      await account.ledger.settle(lease, { amountMicro: 12 });
      expect((await creditsNow(account)).prepaid?.balanceMicro).toBe(98);
      expect((await account.windows()).session.usedMicro).toBe(10);
    });

    it("get back what a call did not use after its lease had expired", async () => {
      const account = await fixture({ week: 0 });
      const expiresAt = start + hour;
      await topUp(account, 100, { expiresAt });
      const lease = await account.admit(50);
      await account.ledger.renew([{ lease, observedMicro: 40, leaseMs: minute }]);
      account.clock.advance(minute);
      expect((await creditsNow(account)).prepaid).toMatchObject({ balanceMicro: 60, heldMicro: 0 });
      const { status, prepaid } = await account.ledger.settle(lease, { amountMicro: 15 });
      expect(status).toBe("late");
      expect(prepaid).toEqual(prepaidLeft(85, { lots: [{ expiresAt, leftMicro: 85 }] }));
      expect((await account.ledger.settle(lease, { amountMicro: 15 })).status).toBe("duplicate");
    });

    it("pay for a lease of which the ledger knows nothing, beside the plan", async () => {
      const account = await fixture({ week: 10 });
      await topUp(account, 100);
      const lease = { ...(await account.lostLease(30)), prepaidAt: start, prepaidMicro: 20 };
      const { status, prepaid, prepaidMicro } = await account.ledger.settle(lease, { amountMicro: 12 });
      expect([status, prepaidMicro]).toEqual(["recovered", 2]);
      expect(prepaid?.balanceMicro).toBe(98);
      expect(await account.counts()).toEqual(everywhere(10, 0));
    });

    it("pay for a lease that does not say how much they held", async () => {
      const account = await fixture();
      const lost = await account.lostLease(30);
      account.plan = { week: 0 };
      await topUp(account, 5);
      const lease = { ...lost, limits: account.limits, prepaidAt: start };
      const { status, prepaid } = await account.ledger.settle(lease, { amountMicro: 12 });
      expect(status).toBe("recovered");
      expect(prepaid?.balanceMicro).toBe(-7);
      expect(await account.counts()).toEqual(everywhere(0, 0));
      const another = { ...lease, id: unique("lost") };
      expect(await account.ledger.settle(another, { amountMicro: 12 })).toMatchObject({ prepaidMicro: 12 });
    });

    it("give everything back with a release", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      await account.ledger.release(await account.admit(10));
      expect((await creditsNow(account)).prepaid).toMatchObject({ balanceMicro: 10, heldMicro: 0 });
    });

    it("are added once for each id", async () => {
      const account = await fixture({ week: 0 });
      const id = unique("topup");
      await topUp(account, 10, { id });
      expect((await topUp(account, 10, { id })).balanceMicro).toBe(10);
      await expect(topUp(account, 11, { id })).rejects.toBeInstanceOf(LedgerConflictError);
      await expect(topUp(account, 10, { id, expiresAt: start + hour })).rejects.toBeInstanceOf(LedgerConflictError);
      expect((await creditsNow(account)).prepaid?.balanceMicro).toBe(10);
    });

    it("are replayed with their lease", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      const request = account.request(10);
      const first = admitted(await account.ledger.reserve(request));
      const again = admitted(await account.ledger.reserve(request));
      expect(again.replayed).toBe(true);
      expect(again.lease).toEqual(first.lease);
      expect(again.prepaid).toEqual(first.prepaid);
    });

    it("refuse what is no amount, and what has expired", async () => {
      const account = await fixture();
      for (const amount of [0, -1, 0.5, Number.NaN, 2 ** 53]) {
        await expect(topUp(account, amount)).rejects.toBeInstanceOf(LedgerInputError);
      }
      for (const expiresAt of [start, start - 1, 1.5, Number.NaN]) {
        await expect(topUp(account, 1, { expiresAt })).rejects.toBeInstanceOf(LedgerInputError);
      }
      await topUp(account, Number.MAX_SAFE_INTEGER);
      await expect(topUp(account, 1)).rejects.toBeInstanceOf(LedgerInputError);
      expect((await creditsNow(account)).prepaid?.balanceMicro).toBe(Number.MAX_SAFE_INTEGER);
    });

    it("have a hundred moments of expiry at the most", async () => {
      const account = await fixture();
      for (let lot = 1; lot <= 100; lot++) await topUp(account, 1, { expiresAt: start + hour + lot });
      await expect(topUp(account, 1)).rejects.toBeInstanceOf(LedgerInputError);
      expect((await topUp(account, 1, { expiresAt: start + hour + 1 })).balanceMicro).toBe(101);
    });

    it("are in the journal, and name no window", async () => {
      const account = await fixture({ week: 0 });
      if (account.ledger.history === undefined) return;
      const id = unique("topup");
      await topUp(account, 10, { id });
      const lease = await account.admit(4);
      await account.ledger.settle(lease, { amountMicro: 4, tags: { model: "m" } });
      const { entries } = await account.ledger.history({ account: account.id });
      const shown = entries.map(({ sequence, ...entry }) => entry);
      expect(shown).toEqual([
        { id: lease.id, kind: "charge", at: start, amountMicro: 4, prepaidMicro: 4, starts: {}, tags: { model: "m" } },
        { id, kind: "topup", at: start, amountMicro: 10, starts: {}, tags: {} },
      ]);
    });

    it("are forgotten with their account", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      await account.ledger.forget(account.id);
      expect((await creditsNow(account)).prepaid).toBeUndefined();
      expect((await account.reserve(1)).ok).toBe(false);
    });

    it("outlive every window", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      account.clock.set(Date.UTC(2029, 1, 1));
      expect((await account.reserve(1)).ok).toBe(true);
    });

    it("get back a correction long after everything else of the account is over", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 1);
      const lease = await account.admit(0, { leaseMs: second });
      await account.ledger.renew([{ lease, observedMicro: 1, leaseMs: second }]);
      account.clock.advance(second);
      await account.ledger.reset(account.id, ["week"]);
      // A ledger may look after accounts of others meanwhile, and drop what has nothing left.
      for (let other = 0; other < 3; other++) await account.reserve(1, { account: unique("account") });
      const { status, prepaid } = await account.ledger.settle(lease, { amountMicro: 0 });
      expect(status).toBe("late");
      expect(prepaid).toEqual(prepaidLeft(1));
    });

    it("pay what is overdrawn with what a correction gives back", async () => {
      // 30 are overdrawn. Of 25 that come back nothing is left, of 36 there are 6.
      for (const [amountMicro, left] of [
        [15, -5],
        [4, 6],
      ] as const) {
        const account = await fixture({ week: 0 });
        await topUp(account, 10);
        const lease = await account.admit(50, { leaseMs: second });
        await account.ledger.renew([{ lease, observedMicro: 40, leaseMs: second }]);
        account.clock.advance(second);
        expect((await account.ledger.settle(lease, { amountMicro })).prepaid).toEqual(prepaidLeft(left));
        expect(await topUp(account, 6)).toMatchObject({ balanceMicro: left + 6 });
      }
    });

    it("do not pay for a call with what had expired before it, and are overdrawn all the same", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10, { expiresAt: start + 30 * second });
      await topUp(account, 5);
      // While it is open, nothing lapses.
      await account.admit(1, { leaseMs: 15 * minute });
      account.clock.advance(40 * second);
      const { prepaid } = await account.ledger.settle(await account.admit(20), { amountMicro: 20 });
      expect(prepaid).toEqual(prepaidLeft(-15, { heldMicro: 1, lots: [] }));
      account.clock.advance(-20 * second);
      expect((await creditsNow(account)).prepaid?.balanceMicro).toBe(-5);
      expect((await account.reserve(1)).ok).toBe(false);
    });

    it("hold what a renewal has observed, and the windows nothing of it", async () => {
      const account = await fixture({ session: 10 });
      await account.spend(10);
      await topUp(account, 100);
      const lease = await account.admit(5);
      await account.ledger.renew([{ lease, observedMicro: 9, leaseMs: minute }]);
      expect((await creditsNow(account)).prepaid?.heldMicro).toBe(9);
      expect(await account.counts()).toEqual(everywhere(10, 0));
      const { prepaid } = await account.ledger.settle(lease, { amountMicro: 7 });
      expect(prepaid).toMatchObject({ balanceMicro: 93, heldMicro: 0 });
    });

    it("pay for a call that held nothing and whose holder died, also with what has expired since", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 1, { expiresAt: start + 10 * second });
      const lease = await account.admit(0, { leaseMs: 30 * second });
      await account.ledger.renew([{ lease, observedMicro: 3, leaseMs: 30 * second }]);
      account.clock.advance(10 * second);
      // A call that may need it is open: nothing lapses.
      await account.ledger.reset(account.id, ["week"]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(0));
      account.clock.advance(20 * second);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(-2));
      await account.ledger.reset(account.id, ["week"]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(-2));
    });

    it("are shown for good once there were some", async () => {
      const account = await fixture({ week: 0 });
      expect((await creditsNow(account)).prepaid).toBeUndefined();
      await topUp(account, 3);
      await account.spend(3);
      account.clock.advance(100 * day);
      await account.ledger.reset(account.id, ["week"]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(0));
    });

    it("hold no more than can be counted", async () => {
      const most = Number.MAX_SAFE_INTEGER;
      const account = await fixture({ week: 0 });
      await topUp(account, most);
      await account.admit(most - 1);
      await expect(account.reserve(5)).rejects.toBeInstanceOf(LedgerInputError);
      expect((await creditsNow(account)).prepaid?.heldMicro).toBe(most - 1);
    });

    it("name no window in the checkpoint of a call, and have each entry in its own place", async () => {
      const account = await fixture({ week: 0 });
      if (account.ledger.history === undefined) return;
      await topUp(account, 10);
      await topUp(account, 3, { expiresAt: start + hour });
      const lease = await account.admit(5, { leaseMs: second });
      await account.ledger.renew([{ lease, observedMicro: 2, leaseMs: second }]);
      account.clock.advance(second);
      await account.ledger.reset(account.id, ["week"]);
      account.clock.advance(hour);
      await account.ledger.reset(account.id, ["week"]);
      await topUp(account, 7);
      const { entries } = await account.ledger.history({ account: account.id });
      expect(entries.map(({ kind, amountMicro, starts }) => [kind, amountMicro, starts])).toEqual([
        ["topup", 7, {}],
        ["expiry", -1, {}],
        ["checkpoint", 2, {}],
        ["topup", 3, {}],
        ["topup", 10, {}],
      ]);
      expect(new Set(entries.map(({ sequence }) => sequence)).size).toBe(5);
    });

    it("are added to one account for each id", async () => {
      const account = await fixture({ week: 0 });
      if (ids !== "unique" && account.ledger.claimTopUp === undefined) return;
      const of = { id: unique("topup"), amountMicro: 10 };
      await account.ledger.topUp?.({ ...of, account: account.id });
      const toAnother = async () => account.ledger.topUp?.({ ...of, account: unique("account") });
      await expect(toAnother()).rejects.toBeInstanceOf(LedgerConflictError);
    });
  });
}
