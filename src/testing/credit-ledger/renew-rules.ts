import { everywhere, monthEnd, second, sessionMs, start, unique, weekEnd } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

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
