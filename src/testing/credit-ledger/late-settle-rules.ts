import { countsOf, everywhere, hour, second, sessionMs, start } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

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
