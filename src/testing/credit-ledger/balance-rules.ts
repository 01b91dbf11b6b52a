import { day, everywhere, hour, monthEnd, second, start, weekEnd } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

/** What a balance shows. */
export function describeBalance({ describe, it, fixture }: RulesInput): void {
  describe("balance", () => {
    it("shows an unknown account as unused", async () => {
      const account = await fixture({ session: 100, month: 7 });
      expect(await account.ledger.balance(account.id, account.limits)).toEqual({
        now: start,
        windows: {
          session: { limitMicro: 100, usedMicro: 0, heldMicro: 0, bonusMicro: 0, startsAt: null, resetsAt: null },
          week: {
            limitMicro: null,
            usedMicro: 0,
            heldMicro: 0,
            bonusMicro: 0,
            startsAt: weekEnd - 7 * day,
            resetsAt: weekEnd,
          },
          month: {
            limitMicro: 7,
            usedMicro: 0,
            heldMicro: 0,
            bonusMicro: 0,
            startsAt: Date.UTC(2026, 2, 1),
            resetsAt: monthEnd,
          },
        },
      });
    });

    it("shows expired holds as ended, with what they charge", async () => {
      const account = await fixture();
      const lease = await account.admit(30);
      await account.ledger.renew([{ lease, observedMicro: 4, leaseMs: 60 * second }]);
      await account.admit(10);
      account.clock.advance(60 * second);
      await account.admit(2);
      account.clock.advance(second);
      expect(await account.counts()).toEqual(everywhere(4, 2));
      expect(await account.counts()).toEqual(everywhere(4, 2));
    });

    it("opens no session", async () => {
      const account = await fixture();
      await account.windows();
      account.clock.advance(hour);
      await account.admit(1);
      expect((await account.windows()).session.startsAt).toBe(start + hour);
    });
  });
}
