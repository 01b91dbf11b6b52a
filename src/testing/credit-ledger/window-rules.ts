import { admitted, everywhere, hour, monthEnd, second, sessionMs, start, weekEnd } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { RulesInput } from "./rules-input.js";

/** When windows begin and end. */
export function describeWindows({ describe, it, fixture }: RulesInput): void {
  describe("windows", () => {
    it.each([
      ["session", start + sessionMs],
      ["week", weekEnd],
      ["month", monthEnd],
    ] as const)("begins a new %s exactly at the end of the last", async (window, end) => {
      const account = await fixture({ [window]: 10 });
      await account.spend(10);
      account.clock.set(end - 1);
      expect((await account.reserve(1)).ok).toBe(false);
      account.clock.set(end);
      const { windows } = admitted(await account.reserve(1));
      expect(windows[window]).toMatchObject({ usedMicro: 0, heldMicro: 1, startsAt: end });
      account.clock.set(end + 1);
      expect((await account.windows())[window]).toMatchObject({ usedMicro: 0, heldMicro: 1, startsAt: end });
    });

    it.each([
      ["session", start + sessionMs],
      ["week", weekEnd],
      ["month", monthEnd],
    ] as const)("charges the %s of the admission, though it has ended", async (window, end) => {
      const account = await fixture({}, end - 30 * second);
      if (window === "session") {
        account.clock.set(start);
        await account.spend(1);
        account.clock.set(end - 30 * second);
      }
      const lease = await account.admit(10);
      account.clock.set(end);
      const settled = await account.ledger.settle(lease, { amountMicro: 7 });
      expect(settled.windows[window]).toMatchObject({ usedMicro: 0, heldMicro: 0 });
      await account.admit(2);
      expect((await account.windows())[window]).toMatchObject({ usedMicro: 0, heldMicro: 2, startsAt: end });
    });

    it("leaves a newer window alone when an older request settles", async () => {
      const account = await fixture({}, start);
      await account.spend(1);
      account.clock.set(start + sessionMs - second);
      const older = await account.admit(10);
      account.clock.set(start + sessionMs);
      await account.admit(2);
      expect(await account.counts()).toEqual({ session: [0, 2], week: [1, 12], month: [1, 12] });
      await account.ledger.settle(older, { amountMicro: 7 });
      expect(await account.counts()).toEqual({ session: [0, 2], week: [8, 2], month: [8, 2] });
    });

    it("lets all three windows end at one instant", async () => {
      const account = await fixture(
        { session: 5, week: 5, month: 5, anchor: Date.UTC(2026, 1, 16) },
        weekEnd - sessionMs,
      );
      await account.spend(5);
      account.clock.set(weekEnd - 30 * second);
      account.plan = { anchor: Date.UTC(2026, 1, 16) };
      const across = await account.admit(3);
      account.clock.set(weekEnd);
      await account.spend(1);
      await account.ledger.settle(across, { amountMicro: 3 });
      expect(await account.counts()).toEqual(everywhere(1, 0));
      expect((await account.windows()).month).toMatchObject({ startsAt: weekEnd, resetsAt: Date.UTC(2026, 3, 16) });
    });

    it("does not open a session by settling", async () => {
      const account = await fixture();
      const lease = await account.admit(10);
      account.clock.set(start + sessionMs);
      await account.ledger.renew([{ lease, observedMicro: 3, leaseMs: 60 * second }]);
      const { windows } = await account.ledger.settle(lease, { amountMicro: 7 });
      expect(windows.session).toMatchObject({ startsAt: null, resetsAt: null, usedMicro: 0, heldMicro: 0 });
    });

    it("closes a session when everything in it was released", async () => {
      const account = await fixture();
      const lease = await account.admit(10);
      expect((await account.ledger.release(lease)).windows.session.startsAt).toBeNull();
      account.clock.advance(hour);
      await account.admit(10);
      expect((await account.windows()).session.startsAt).toBe(start + hour);
    });

    it("keeps a session open while anything in it is used or held", async () => {
      const account = await fixture();
      const first = await account.admit(10);
      account.clock.advance(second);
      const other = await account.admit(5);
      await account.ledger.release(first);
      expect((await account.windows()).session).toMatchObject({ startsAt: start, heldMicro: 5 });
      await account.ledger.settle(other, { amountMicro: 1 });
      await account.ledger.release(await account.admit(5));
      expect((await account.windows()).session).toMatchObject({ startsAt: start, usedMicro: 1 });
    });

    it("closes a session whose only request cost nothing, or died unseen", async () => {
      const account = await fixture();
      await account.ledger.settle(await account.admit(10), { amountMicro: 0 });
      expect((await account.windows()).session.startsAt).toBeNull();
      await account.admit(10);
      account.clock.advance(60 * second);
      expect((await account.windows()).session.startsAt).toBeNull();
      await account.admit(10);
      expect((await account.windows()).session.startsAt).toBe(start + 60 * second);
    });
  });
}
