import { type Lease, LedgerConflictError } from "../../ledger/credit-ledger.js";
import {
  countsOf,
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

/** What a settlement charges. */
export function describeSettle({ describe, it, fixture, ids }: RulesInput): void {
  describe("settle", () => {
    it.each([0, 1, 29, 30, 31, 500])("replaces a hold of 30 by a cost of %i", async (amountMicro) => {
      const account = await fixture({ session: 100, week: 200, month: 300 });
      await account.spend(1);
      const lease = await account.admit(30);
      const { status, windows } = await account.ledger.settle(lease, {
        amountMicro,
        estimated: true,
        tags: { keyId: "k" },
      });
      expect(status).toBe("settled");
      expect(countsOf(windows)).toEqual(everywhere(1 + amountMicro, 0));
      expect(windows.session).toMatchObject({ limitMicro: 100, startsAt: start, resetsAt: start + sessionMs });
      expect(await account.windows()).toEqual(windows);
    });

    it("charges once, whatever amounts are sent later", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      await account.ledger.settle(lease, { amountMicro: 20 });
      for (const amountMicro of [20, 25, 0]) {
        const { status, windows } = await account.ledger.settle(lease, { amountMicro });
        expect(status).toBe("duplicate");
        expect(countsOf(windows)).toEqual(everywhere(20, 0));
      }
      const parallel = await account.admit(30);
      const results = await Promise.all(
        [1, 2, 3].map((amountMicro) => account.ledger.settle(parallel, { amountMicro })),
      );
      expect(results.map(({ status }) => status)).toEqual(["settled", "duplicate", "duplicate"]);
      expect(await account.counts()).toEqual(everywhere(21, 0));
    });

    it("takes a lease that went through JSON", async () => {
      const account = await fixture();
      const lease: Lease = JSON.parse(JSON.stringify(await account.admit(30)));
      expect((await account.ledger.settle(lease, { amountMicro: 20 })).status).toBe("settled");
    });

    it("does not mind a change of the plan between reservation and settlement", async () => {
      const account = await fixture({ session: 100 });
      const lease = await account.admit(30);
      account.plan = { session: 10, anchor: start };
      await account.ledger.settle(lease, { amountMicro: 20 });
      expect((await account.windows()).session).toMatchObject({ limitMicro: 10, usedMicro: 20 });
    });

    it("refuses a lease of another account or amount", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      const forged = [{ ...lease, amountMicro: 31 }];
      if (ids === "unique") forged.push({ ...lease, account: unique("account") });
      for (const other of forged) {
        await expect(account.ledger.settle(other, { amountMicro: 1 })).rejects.toBeInstanceOf(LedgerConflictError);
        await expect(account.ledger.release(other)).rejects.toBeInstanceOf(LedgerConflictError);
        const renewal = { lease: other, observedMicro: 40, leaseMs: 60 * second };
        await expect(account.ledger.renew([renewal])).rejects.toBeInstanceOf(LedgerConflictError);
      }
      expect(await account.counts()).toEqual(everywhere(0, 30));
      account.clock.advance(60 * second);
      await account.windows();
      for (const other of forged) {
        await expect(account.ledger.settle(other, { amountMicro: 1 })).rejects.toBeInstanceOf(LedgerConflictError);
      }
      await account.ledger.settle(lease, { amountMicro: 3 });
      for (const other of forged) {
        await expect(account.ledger.settle(other, { amountMicro: 1 })).rejects.toBeInstanceOf(LedgerConflictError);
      }
      expect(await account.counts()).toEqual(everywhere(3, 0));
    });
  });
}

/** What a settlement charges whose hold has expired or is unknown. */
export function describeLateSettle({ describe, it, fixture }: RulesInput): void {
  describe("settle", () => {
    it("charges the difference to the last checkpoint when it comes late", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: 60 * second }]);
      account.clock.advance(60 * second);
      expect(await account.counts()).toEqual(everywhere(12, 0));
      const late = await account.ledger.settle(lease, { amountMicro: 20 });
      expect(late.status).toBe("late");
      expect(countsOf(late.windows)).toEqual(everywhere(20, 0));
      expect((await account.ledger.settle(lease, { amountMicro: 20 })).status).toBe("duplicate");
      expect(await account.counts()).toEqual(everywhere(20, 0));
    });

    it("gives back what the expiry charged too much", async () => {
      const account = await fixture();
      await account.spend(1);
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: 60 * second }]);
      account.clock.advance(60 * second);
      await account.ledger.settle(lease, { amountMicro: 5 });
      expect(await account.counts()).toEqual(everywhere(6, 0));
    });

    it("reopens the session of a late charge if it had closed for want of use", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      account.clock.advance(60 * second);
      expect((await account.windows()).session.startsAt).toBeNull();
      const { status, windows } = await account.ledger.settle(lease, { amountMicro: 20 });
      expect(status).toBe("late");
      expect(windows.session).toMatchObject({ usedMicro: 20, startsAt: start, resetsAt: start + sessionMs });
    });

    it("leaves a newer session alone when the charge comes late", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      account.clock.advance(60 * second);
      await account.admit(3);
      await account.ledger.settle(lease, { amountMicro: 20 });
      expect(await account.counts()).toEqual({ session: [0, 3], week: [20, 3], month: [20, 3] });
    });

    it("charges an id it does not know, in the windows of its lease", async () => {
      const account = await fixture({ session: 100 });
      const lease = await account.lostLease(30);
      account.clock.advance(second);
      const { status, windows } = await account.ledger.settle(lease, { amountMicro: 20 });
      expect(status).toBe("recovered");
      expect(countsOf(windows)).toEqual(everywhere(20, 0));
      expect(windows.session).toMatchObject({ limitMicro: 100, startsAt: start, resetsAt: start + sessionMs });
      expect((await account.ledger.settle(lease, { amountMicro: 20 })).status).toBe("duplicate");
      expect(await account.counts()).toEqual(everywhere(20, 0));
    });

    it("restores the exact sum when settlements are repeated after the state was lost", async () => {
      const account = await fixture();
      const leases = [await account.lostLease(30), await account.lostLease(40), await account.lostLease(50)];
      for (const lease of [...leases, ...leases]) {
        await account.ledger.settle(lease, { amountMicro: lease.amountMicro, mayBeDuplicateSince: start });
      }
      expect(await account.counts()).toEqual(everywhere(120, 0));
    });

    it("charges an unknown id only where that window is the newest", async () => {
      const account = await fixture();
      const lease = await account.lostLease(30);
      account.clock.set(start + sessionMs);
      await account.spend(1);
      await account.ledger.settle(lease, { amountMicro: 20 });
      expect(await account.counts()).toEqual({ session: [1, 0], week: [21, 0], month: [21, 0] });
    });

    it("recognises a repetition, or does not charge it", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      const attempt = { amountMicro: 20, mayBeDuplicateSince: start };
      await account.ledger.settle(lease, attempt);
      account.clock.advance(30 * second);
      expect((await account.ledger.settle(lease, attempt)).status).toBe("duplicate");
      for (let hours = 0; hours < 30; hours++) {
        account.clock.advance(hour);
        await account.spend(1);
        expect(["duplicate", "unresolved"]).toContain((await account.ledger.settle(lease, attempt)).status);
      }
      expect((await account.windows()).week.usedMicro).toBe(20 + 30);
    });
  });
}

/** What a release gives back. */
export function describeRelease({ describe, it, fixture }: RulesInput): void {
  describe("release", () => {
    it("gives the hold back, once", async () => {
      const account = await fixture();
      await account.spend(1);
      const lease = await account.admit(30);
      const { status, windows } = await account.ledger.release(lease);
      expect(status).toBe("settled");
      expect(countsOf(windows)).toEqual(everywhere(1, 0));
      expect((await account.ledger.release(lease)).status).toBe("duplicate");
      expect(await account.counts()).toEqual(everywhere(1, 0));
    });

    it("excludes settling, and the other way round", async () => {
      const account = await fixture();
      const released = await account.admit(30);
      await account.ledger.release(released);
      expect((await account.ledger.settle(released, { amountMicro: 9 })).status).toBe("duplicate");
      const settled = await account.admit(30);
      await account.ledger.settle(settled, { amountMicro: 9 });
      expect((await account.ledger.release(settled)).status).toBe("duplicate");
      expect(await account.counts()).toEqual(everywhere(9, 0));
    });

    it("gives back, after the expiry, what that has charged", async () => {
      const account = await fixture();
      await account.spend(1);
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: 60 * second }]);
      account.clock.advance(60 * second);
      expect(await account.counts()).toEqual(everywhere(13, 0));
      expect((await account.ledger.release(lease)).status).toBe("late");
      expect(await account.counts()).toEqual(everywhere(1, 0));
    });

    it("charges nothing for an unknown id", async () => {
      const account = await fixture();
      const lease = await account.lostLease(30);
      expect((await account.ledger.release(lease)).status).toBe("recovered");
      expect((await account.ledger.settle(lease, { amountMicro: 9 })).status).toBe("duplicate");
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });
  });
}

/** What a renewal extends, holds and charges. */
export function describeRenew({ describe, it, fixture }: RulesInput): void {
  describe("leases", () => {
    it("lives from its renewal", async () => {
      const account = await fixture({ session: 10 });
      const lease = await account.admit(10);
      account.clock.advance(50 * second);
      expect(await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: 60 * second }])).toEqual(["renewed"]);
      account.clock.advance(60 * second - 1);
      expect((await account.reserve(1)).ok).toBe(false);
      account.clock.advance(1);
      expect((await account.reserve(1)).ok).toBe(true);
      expect((await account.ledger.settle(lease, { amountMicro: 1 })).status).toBe("late");
    });

    it("is not shortened by a renewal", async () => {
      const account = await fixture();
      // A ledger may look at ends only when the first of them has come.
      await account.admit(10, { leaseMs: 50 * second });
      const lease = await account.admit(10);
      await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: 1_000 }]);
      account.clock.advance(59 * second);
      expect((await account.ledger.settle(lease, { amountMicro: 1 })).status).toBe("settled");
    });

    it("charges the highest cost seen when the holder dies, and nothing that nobody saw", async () => {
      const account = await fixture();
      await account.spend(1);
      const [seen] = [await account.admit(30), await account.admit(40)];
      for (const observedMicro of [7, 4])
        await account.ledger.renew([{ lease: seen, observedMicro, leaseMs: 60 * second }]);
      account.clock.advance(60 * second);
      expect(await account.counts()).toEqual(everywhere(8, 0));
    });

    it("raises the hold to the cost seen", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 45, leaseMs: 60 * second }]);
      expect(await account.counts()).toEqual(everywhere(0, 45));
      await account.ledger.renew([{ lease, observedMicro: 40, leaseMs: 60 * second }]);
      expect(await account.counts()).toEqual(everywhere(0, 45));
      await account.ledger.settle(lease, { amountMicro: 44 });
      expect(await account.counts()).toEqual(everywhere(44, 0));
    });

    it("raises the hold in the windows of its admission only", async () => {
      const account = await fixture();
      await account.spend(1);
      account.clock.set(start + sessionMs - second);
      const older = await account.admit(10);
      account.clock.set(start + sessionMs);
      await account.admit(2);
      await account.ledger.renew([{ lease: older, observedMicro: 15, leaseMs: 60 * second }]);
      expect(await account.counts()).toEqual({ session: [0, 2], week: [1, 17], month: [1, 17] });
    });

    it("raises no hold of a week or month that has begun since", async () => {
      for (const [end, expected] of [
        [weekEnd, { session: [0, 17], week: [0, 2], month: [0, 17] }],
        [monthEnd, { session: [0, 17], week: [0, 17], month: [0, 2] }],
      ] as const) {
        const account = await fixture({}, end - second);
        const older = await account.admit(10);
        account.clock.set(end);
        await account.admit(2);
        await account.ledger.renew([{ lease: older, observedMicro: 15, leaseMs: 60 * second }]);
        expect(await account.counts()).toEqual(expected);
      }
    });

    it("moves the charge up, without holding, when renewed after the expiry", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 5, leaseMs: 60 * second }]);
      account.clock.advance(60 * second);
      for (const observedMicro of [9, 9, 2]) {
        expect(await account.ledger.renew([{ lease, observedMicro, leaseMs: 60 * second }])).toEqual(["expired"]);
        expect(await account.counts()).toEqual(everywhere(9, 0));
      }
      await account.ledger.settle(lease, { amountMicro: 12 });
      expect(await account.counts()).toEqual(everywhere(12, 0));
    });

    it("answers closed for what has ended or is unknown", async () => {
      const account = await fixture();
      const [settled, released, open, lost] = [
        await account.admit(1),
        await account.admit(2),
        await account.admit(3),
        { ...(await account.admit(4)), id: unique("id") },
      ];
      await account.ledger.settle(settled, { amountMicro: 1 });
      await account.ledger.release(released);
      const requests = [settled, open, released, lost].map((lease) => ({
        lease,
        observedMicro: 9,
        leaseMs: 60 * second,
      }));
      expect(await account.ledger.renew(requests)).toEqual(["closed", "renewed", "closed", "closed"]);
      expect(await account.ledger.renew([])).toEqual([]);
    });
  });
}
