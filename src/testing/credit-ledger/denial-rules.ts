import { denied, hour, monthEnd, second, sessionMs, start, weekEnd } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

/** Which window a denial names, and until when. */
export function describeDenial({ describe, it, fixture }: RulesInput): void {
  describe("a denial", () => {
    it("reports the window that is available last, and all of them", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 });
      await account.spend(10);
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "month", cause: "used", availableAt: monthEnd },
        { window: "week", cause: "used", availableAt: weekEnd },
        { window: "session", cause: "used", availableAt: start + sessionMs },
      ]);
    });

    it("puts the week first when it outlasts the month", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 }, Date.UTC(2026, 2, 31, 12));
      await account.spend(10);
      expect(denied(await account.reserve(1)).blocked.map(({ window }) => window)).toEqual([
        "week",
        "month",
        "session",
      ]);
    });

    it("puts the longer window first where two end at the same moment", async () => {
      const now = weekEnd - sessionMs;
      const account = await fixture({ session: 10, week: 10, month: 10, anchor: Date.UTC(2026, 1, 16) }, now);
      await account.spend(10);
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "month", cause: "used", availableAt: weekEnd },
        { window: "week", cause: "used", availableAt: weekEnd },
        { window: "session", cause: "used", availableAt: weekEnd },
      ]);
    });

    it("tells what is held from what is used", async () => {
      const account = await fixture({ session: 10 });
      const lease = await account.admit(10);
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "session", cause: "held", availableAt: start + 5 * second },
      ]);
      await account.ledger.settle(lease, { amountMicro: 9 });
      await account.admit(5);
      expect(denied(await account.reserve(1)).blocked).toMatchObject([{ cause: "held" }]);
    });

    it("lets an exhausted window outweigh one that is only held", async () => {
      const account = await fixture({ session: 10, month: 10 });
      await account.spend(5);
      const lease = await account.admit(5);
      await account.ledger.renew([{ lease, observedMicro: 5, leaseMs: 60 * second }]);
      account.plan = { session: 5, month: 10 };
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "session", cause: "used", availableAt: start + sessionMs },
        { window: "month", cause: "held", availableAt: start + 5 * second },
      ]);
    });

    it("never sends a caller beyond the window's end for what is held", async () => {
      const account = await fixture({ week: 10 }, weekEnd - 2 * second);
      await account.admit(10);
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "week", cause: "held", availableAt: weekEnd },
      ]);
    });

    it("admits a lone caller who waited until then", async () => {
      const account = await fixture({ session: 10, week: 10, month: 10 });
      await account.spend(10);
      const { blocked } = denied(await account.reserve(1));
      account.clock.set(blocked[0].availableAt - 1);
      expect((await account.reserve(1)).ok).toBe(false);
      account.clock.set(blocked[0].availableAt);
      expect((await account.reserve(1)).ok).toBe(true);
    });

    it("names the window's end for a limit of 0, or where none is open what it would be", async () => {
      const account = await fixture({ session: 0, week: 0, month: 0 });
      expect(denied(await account.reserve(1)).blocked).toEqual([
        { window: "month", cause: "used", availableAt: monthEnd },
        { window: "week", cause: "used", availableAt: weekEnd },
        { window: "session", cause: "used", availableAt: start + sessionMs },
      ]);
      account.plan = {};
      await account.spend(1);
      account.clock.advance(hour);
      account.plan = { session: 0 };
      expect(denied(await account.reserve(1)).blocked).toMatchObject([{ availableAt: start + sessionMs }]);
    });

    it("follows the plan: lowered below the use it denies, raised it admits at once", async () => {
      const account = await fixture({ session: 100 });
      await account.spend(50);
      account.plan = { session: 40 };
      expect(denied(await account.reserve(1)).windows.session).toMatchObject({ limitMicro: 40, usedMicro: 50 });
      account.plan = { session: 51 };
      expect((await account.reserve(1)).ok).toBe(true);
    });
  });
}
