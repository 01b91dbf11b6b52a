import type { Lease } from "../../ledger/credit-ledger.js";
import { everywhere, type Fixture, hour, second, start } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

/** What is left of an account that was forgotten. */
export function describeForget({ describe, it, fixture }: RulesInput): void {
  describe("forget", () => {
    it("leaves nothing of an account", async () => {
      const account = await fixture({ session: 10 });
      await account.spend(10);
      await account.ledger.forget(account.id);
      expect(await account.counts()).toEqual(everywhere(0, 0));
      expect((await account.windows()).session.startsAt).toBeNull();
      await account.ledger.forget(account.id);
      expect((await account.reserve(1)).ok).toBe(true);
    });

    it("drops the holds too", async () => {
      const account = await fixture();
      await account.admit(10);
      await account.ledger.forget(account.id);
      await account.admit(3);
      account.clock.advance(60 * second);
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });

    it.each([0, second])("is not undone by what ends %i ms later of the calls from before", async (ms) => {
      const account = await fixture();
      const [settled, seen, died] = [await account.admit(10), await account.admit(20), await account.admit(30)];
      const leases = [settled, seen, died, await account.admit(40), await account.admit(0)];
      await account.ledger.settle(settled, { amountMicro: 9 });
      await account.ledger.renew([{ lease: seen, observedMicro: 5, leaseMs: 900 * second }]);
      await account.ledger.renew([{ lease: died, observedMicro: 5, leaseMs: 60 * second }]);
      account.clock.advance(60 * second);
      // Some have died by then.
      await account.ledger.reset(account.id, []);
      await account.ledger.forget(account.id);
      account.clock.advance(ms);
      await expectNothingOf(account, leases);
      expect(await account.counts()).toEqual(everywhere(0, 0));
      expect((await account.windows()).session.startsAt).toBeNull();
      await expectNothingOf(account, leases);
    });

    it("is not undone while the account is used anew, whose own calls are charged", async () => {
      const account = await fixture();
      const before = [await account.admit(10), await account.admit(20)];
      await account.ledger.forget(account.id);
      // In the same millisecond.
      const [settled, late] = [await account.admit(3), await account.admit(4)];
      await expectNothingOf(account, before, 0);
      expect((await account.ledger.settle(settled, { amountMicro: 2 })).status).toBe("settled");
      account.clock.advance(60 * second);
      expect((await account.ledger.settle(late, { amountMicro: 5 })).status).toBe("late");
      await account.ledger.forget(account.id);
      account.clock.advance(hour);
      const again = await account.admit(6);
      await expectNothingOf(account, [...before, settled, late], 0);
      expect((await account.ledger.settle(again, { amountMicro: 7 })).status).toBe("settled");
      expect((await account.ledger.settle(await account.lostLease(8), { amountMicro: 8 })).status).toBe("recovered");
      expect(await account.counts()).toEqual(everywhere(15, 0));
    });

    it("is not undone for a day", async () => {
      const account = await fixture();
      const leases = [await account.admit(10), await account.admit(20)];
      await account.ledger.forget(account.id);
      for (let hours = 0; hours < 23; hours++) {
        account.clock.advance(hour);
        await account.spend(1);
      }
      const since = start + 23 * hour;
      for (const lease of leases) {
        const late = await account.ledger.settle(lease, { amountMicro: 5, mayBeDuplicateSince: since });
        expect(late.status).toBe("duplicate");
      }
      expect((await account.windows()).week).toMatchObject({ usedMicro: 23, heldMicro: 0 });
    });

    const expectNothingOf = async (account: Fixture, leases: readonly Lease[], entries = 0) => {
      const renewals = leases.map((lease) => ({ lease, observedMicro: 50, leaseMs: 60 * second }));
      expect(await account.ledger.renew(renewals)).toEqual(leases.map(() => "closed"));
      for (const [index, lease] of leases.entries()) {
        const attempt = { amountMicro: 7, mayBeDuplicateSince: start };
        const ending = index % 2 === 0 ? account.ledger.settle(lease, attempt) : account.ledger.release(lease);
        expect((await ending).status).toBe("duplicate");
        expect((await account.ledger.settle(lease, { amountMicro: 7 })).status).toBe("duplicate");
      }
      const page = await account.ledger.history?.({ account: account.id });
      expect(page?.entries.filter(({ id }) => leases.some((lease) => lease.id === id)) ?? []).toHaveLength(entries);
    };
  });
}
