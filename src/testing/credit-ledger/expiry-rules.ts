import type { Lease } from "../../ledger/credit-ledger.js";
import { everywhere, second, sessionMs, start, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

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
