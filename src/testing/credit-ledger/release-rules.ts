import { countsOf, everywhere, second } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

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
