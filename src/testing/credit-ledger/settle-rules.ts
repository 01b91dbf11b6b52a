import { type Lease, LedgerConflictError } from "../../ledger/credit-ledger.js";
import { countsOf, everywhere, second, sessionMs, start, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

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
