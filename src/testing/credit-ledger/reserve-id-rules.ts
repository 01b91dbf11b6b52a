import { LedgerConflictError } from "../../ledger/credit-ledger.js";
import { admitted, countsOf, denied, everywhere, second, start, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

/** How the id and the account identify a reservation. */
export function describeReserveIds({ describe, it, fixture, ids }: RulesInput): void {
  describe("reserve", () => {
    it("answers the same id with the first lease, and holds once", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      const { lease } = admitted(await account.ledger.reserve(request));
      account.clock.advance(second);
      const open = admitted(await account.ledger.reserve(request));
      expect(open).toMatchObject({ lease, replayed: true, now: start + second });
      expect(await account.counts()).toEqual(everywhere(0, 30));
      await account.ledger.settle(lease, { amountMicro: 20 });
      expect(admitted(await account.ledger.reserve(request))).toMatchObject({ lease, replayed: true });
      expect(await account.counts()).toEqual(everywhere(20, 0));
    });

    it("replays even when the account is exhausted by now", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      await account.ledger.reserve(request);
      await account.admit(100);
      expect(admitted(await account.ledger.reserve(request)).replayed).toBe(true);
    });

    it("does not revive an expired id by repeating it", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      await account.ledger.reserve(request);
      account.clock.advance(60 * second);
      expect(admitted(await account.ledger.reserve(request)).replayed).toBe(true);
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });

    it("decides anew about an id that was denied", async () => {
      const account = await fixture({ session: 0 });
      const request = account.request(30);
      denied(await account.ledger.reserve(request));
      account.plan = { session: 100 };
      expect(admitted(await account.ledger.reserve({ ...request, limits: account.limits })).replayed).toBe(false);
    });

    it("refuses the same id with another amount", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      const { lease } = admitted(await account.ledger.reserve(request));
      await expect(account.ledger.reserve({ ...request, amountMicro: 31 })).rejects.toBeInstanceOf(LedgerConflictError);
      await account.ledger.settle(lease, { amountMicro: 30 });
      await expect(account.ledger.reserve({ ...request, amountMicro: 31 })).rejects.toBeInstanceOf(LedgerConflictError);
      expect(await account.counts()).toEqual(everywhere(30, 0));
    });

    it.runIf(ids === "unique")("refuses the same id with another account", async () => {
      const account = await fixture({ session: 100 });
      const request = account.request(30);
      await account.ledger.reserve(request);
      const other = unique("account");
      await expect(account.ledger.reserve({ ...request, account: other })).rejects.toBeInstanceOf(LedgerConflictError);
      const { windows } = await account.ledger.balance(other, account.limits);
      expect(countsOf(windows)).toEqual(everywhere(0, 0));
    });

    it("keeps accounts apart", async () => {
      const account = await fixture({ session: 100 });
      await account.spend(100);
      expect((await account.reserve(1, { account: unique("account") })).ok).toBe(true);
    });
  });
}
