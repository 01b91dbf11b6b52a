import { LedgerInputError } from "../../ledger/credit-ledger.js";
import { everywhere, second } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

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
