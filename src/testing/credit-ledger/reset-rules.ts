import { windowNames } from "../../ledger/credit-ledger.js";
import { denied, everywhere, hour, second, sessionMs, start } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

/** What a reset sets back. */
export function describeReset({ describe, it, fixture }: RulesInput): void {
  describe("reset", () => {
    it("clears the use of the windows it names", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 });
      await account.spend(10);
      await account.ledger.reset(account.id, ["week", "month"]);
      expect(await account.counts()).toEqual({ session: [10, 0], week: [0, 0], month: [0, 0] });
      expect(denied(await account.reserve(1)).blocked).toMatchObject([{ window: "session" }]);
      await account.ledger.reset(account.id, ["session"]);
      expect((await account.windows()).session.startsAt).toBeNull();
      account.clock.advance(hour);
      await account.spend(1);
      expect((await account.windows()).session).toMatchObject({ usedMicro: 1, startsAt: start + hour });
    });

    it("keeps what is held, and its session", async () => {
      const account = await fixture();
      await account.spend(10);
      const lease = await account.admit(5);
      await account.ledger.reset(account.id, windowNames);
      expect(await account.counts()).toEqual(everywhere(0, 5));
      expect((await account.windows()).session.startsAt).toBe(start);
      await account.ledger.settle(lease, { amountMicro: 4 });
      expect(await account.counts()).toEqual(everywhere(4, 0));
    });

    it("never lets a later giving back fall below zero", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: 60 * second }]);
      account.clock.advance(60 * second);
      await account.ledger.reset(account.id, windowNames);
      await account.ledger.release(lease);
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });

    it("leaves a window as it is from the moment on at which it ends", async () => {
      const account = await fixture();
      await account.spend(10);
      account.clock.set(start + sessionMs);
      await account.ledger.reset(account.id, ["session"]);
      account.clock.set(start + sessionMs - 1);
      expect(await account.counts()).toEqual(everywhere(10, 0));
    });

    it("does nothing to an unknown account", async () => {
      const account = await fixture();
      await account.ledger.reset(account.id, windowNames);
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });
  });
}
