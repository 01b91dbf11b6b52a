import { LedgerClockError, LedgerInputError } from "../../ledger/credit-ledger.js";
import { day, everywhere, minute, type RulesInput, second, start } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { capOf, creditsNow, deniedAnyhow, prepaidLeft, topUp } from "./limits-fixture.js";

const dayStart = Date.UTC(2026, 2, 11);

/** What a cap admits and counts. */
export function describeCaps({ describe, it, fixture }: RulesInput): void {
  describe("caps", () => {
    it("deny beside the windows, and hold nothing then", async () => {
      const account = await fixture({ session: 1_000 });
      const caps = [capOf(account, "day", 10)];
      const lease = await account.admit(30, { caps });
      expect(lease.caps).toEqual([
        { id: "key/day", window: "day", limitMicro: 10, start: dayStart, end: dayStart + day },
      ]);
      const held = deniedAnyhow(await account.reserve(1, { caps }));
      expect(held.blocked).toEqual([]);
      expect(held.blockedRates).toBeUndefined();
      expect(held.blockedCaps).toEqual([{ id: "key/day", window: "day", cause: "held", availableAt: start + 5_000 }]);
      expect(await account.counts()).toEqual(everywhere(0, 30));
      const settled = await account.ledger.settle(lease, { amountMicro: 12 });
      expect(settled.caps).toEqual([
        {
          ...{ id: "key/day", window: "day", limitMicro: 10, usedMicro: 12, heldMicro: 0 },
          ...{ startsAt: dayStart, resetsAt: dayStart + day },
        },
      ]);
      const used = deniedAnyhow(await account.reserve(1, { caps }));
      expect(used.blockedCaps).toEqual([{ id: "key/day", window: "day", cause: "used", availableAt: dayStart + day }]);
      expect((await account.reserve(1)).ok).toBe(true);
    });

    it("are full when calls hold all that is left, to the micro-credit", async () => {
      const account = await fixture();
      const caps = [capOf(account, "total", 10)];
      const lease = await account.admit(9, { caps });
      const strictly = (amount: number) => account.reserve(amount, { caps, strict: true });
      expect(deniedAnyhow(await strictly(2)).blockedCaps).toMatchObject([{ cause: "held" }]);
      expect((await strictly(1)).ok).toBe(true);
      expect(deniedAnyhow(await account.reserve(1, { caps })).blockedCaps).toMatchObject([{ cause: "held" }]);
      await account.ledger.settle(lease, { amountMicro: 10 });
      expect(deniedAnyhow(await account.reserve(1, { caps })).blockedCaps).toMatchObject([{ cause: "used" }]);
    });

    it("hold nothing when a window denies", async () => {
      const account = await fixture({ session: 10 });
      const caps = [capOf(account, "total", 100)];
      await account.spend(10);
      const { blocked, blockedCaps } = deniedAnyhow(await account.reserve(1, { caps }));
      expect(blocked.map(({ window }) => window)).toEqual(["session"]);
      expect(blockedCaps).toBeUndefined();
      expect((await creditsNow(account, { caps })).caps?.[0]).toMatchObject({ usedMicro: 0, heldMicro: 0 });
    });

    it("begin anew with their span, and a total never", async () => {
      const account = await fixture();
      const caps = () => [capOf(account, "day", 10), capOf(account, "total", 25)];
      await account.ledger.settle(await account.admit(10, { caps: caps() }), { amountMicro: 10 });
      expect((await account.reserve(1, { caps: caps() })).ok).toBe(false);
      account.clock.set(dayStart + day);
      await account.ledger.settle(await account.admit(10, { caps: caps() }), { amountMicro: 15 });
      account.clock.advance(400 * day);
      const { blockedCaps } = deniedAnyhow(await account.reserve(1, { caps: caps() }));
      expect(blockedCaps).toEqual([{ id: "key/total", window: "total", cause: "used", availableAt: null }]);
      expect((await creditsNow(account, { caps: caps() })).caps?.[1]).toMatchObject({ usedMicro: 25, resetsAt: null });
    });

    it("charge the span of the admission", async () => {
      const account = await fixture({}, dayStart + day - 1_000);
      const caps = () => [capOf(account, "day", 10)];
      const lease = await account.admit(5, { caps: caps() });
      account.clock.advance(2_000);
      await account.admit(3, { caps: caps() });
      await account.ledger.settle(lease, { amountMicro: 5 });
      expect((await creditsNow(account, { caps: caps() })).caps?.[0]).toMatchObject({ usedMicro: 0, heldMicro: 3 });
    });

    it("are not shown by a lease from the end of their span on: it does not know the next one", async () => {
      const account = await fixture({}, dayStart + day - minute);
      const cap = capOf(account, "day", 10);
      const lease = await account.admit(5, { caps: [cap], leaseMs: 15 * minute });
      account.clock.set(dayStart + day);
      const { caps } = await account.ledger.settle(lease, { amountMicro: 5 });
      const { bounds, ...of } = cap;
      expect(caps).toEqual([{ ...of, usedMicro: 0, heldMicro: 0, startsAt: null, resetsAt: null }]);
    });

    it("count what prepaid credits fund", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 100);
      const caps = [capOf(account, "day", 10)];
      await account.ledger.settle(await account.admit(10, { caps }), { amountMicro: 10 });
      expect((await account.reserve(1, { caps })).ok).toBe(false);
      expect((await account.reserve(1)).ok).toBe(true);
    });

    it("charge a checkpoint when the holder dies, and what a settlement corrects", async () => {
      const account = await fixture();
      const caps = [capOf(account, "day", 100)];
      const lease = await account.admit(50, { caps });
      await account.ledger.renew([{ lease, observedMicro: 60, leaseMs: minute }]);
      expect((await creditsNow(account, { caps })).caps?.[0]).toMatchObject({ usedMicro: 0, heldMicro: 60 });
      account.clock.advance(minute);
      expect((await creditsNow(account, { caps })).caps?.[0]).toMatchObject({ usedMicro: 60, heldMicro: 0 });
      await account.ledger.renew([{ lease, observedMicro: 70, leaseMs: minute }]);
      expect((await creditsNow(account, { caps })).caps?.[0]).toMatchObject({ usedMicro: 70, heldMicro: 0 });
      await account.ledger.settle(lease, { amountMicro: 20 });
      expect((await creditsNow(account, { caps })).caps?.[0]).toMatchObject({ usedMicro: 20, heldMicro: 0 });
    });

    it("give everything back with a release", async () => {
      const account = await fixture();
      const caps = [capOf(account, "day", 10)];
      await account.ledger.release(await account.admit(10, { caps }));
      expect((await creditsNow(account, { caps })).caps?.[0]).toMatchObject({ usedMicro: 0, heldMicro: 0 });
    });

    it("charge a lease of which the ledger knows nothing, beside the plan alone", async () => {
      const account = await fixture({ month: 10 });
      const caps = [capOf(account, "day", 10)];
      const { caps: leased } = await account.admit(1, { caps });
      const lease = { ...(await account.lostLease(30)), caps: leased };
      expect((await account.ledger.settle(lease, { amountMicro: 12 })).status).toBe("recovered");
      const credits = await creditsNow(account, { caps });
      expect(credits.caps?.[0]).toMatchObject({ usedMicro: 12, heldMicro: 1 });
      expect(credits.prepaid).toBeUndefined();
      expect(await account.counts()).toEqual(everywhere(12, 1));
    });

    it("begin with the available-last", async () => {
      const account = await fixture();
      const caps = [capOf(account, "day", 0), capOf(account, "total", 0), capOf(account, "month", 0)];
      const { blockedCaps } = deniedAnyhow(await account.reserve(1, { caps }));
      expect(blockedCaps?.map(({ window }) => window)).toEqual(["total", "month", "day"]);
    });

    it("are separate for each id, and forgotten with their account", async () => {
      const account = await fixture();
      const [one, other] = [capOf(account, "total", 10, "one"), capOf(account, "total", 10, "other")];
      await account.ledger.settle(await account.admit(10, { caps: [one] }), { amountMicro: 10 });
      expect((await account.reserve(1, { caps: [other] })).ok).toBe(true);
      expect((await account.reserve(1, { caps: [one, other] })).ok).toBe(false);
      await account.ledger.forget(account.id);
      expect((await account.reserve(1, { caps: [one, other] })).ok).toBe(true);
    });

    it("refuse what is no limit, and two of the same id", async () => {
      const account = await fixture();
      for (const limitMicro of [-1, 0.5, Number.NaN]) {
        const caps = [capOf(account, "day", limitMicro)];
        await expect(account.reserve(1, { caps })).rejects.toBeInstanceOf(LedgerInputError);
      }
      const cap = capOf(account, "day", 1);
      await expect(account.reserve(1, { caps: [cap, cap] })).rejects.toBeInstanceOf(LedgerInputError);
      const many = Array.from({ length: 17 }, (_, index) => capOf(account, "day", 1, `cap-${index}`));
      await expect(account.reserve(1, { caps: many })).rejects.toBeInstanceOf(LedgerInputError);
    });

    it("are as if they had never begun where nothing is used or held", async () => {
      const account = await fixture();
      const caps = [capOf(account, "day", 10)];
      const { bounds, ...cap } = capOf(account, "day", 10);
      const later: typeof bounds = [bounds[0] + minute, bounds[1] + minute, bounds[2] + minute, bounds[3] + minute];
      const expectNotBegun = async () => {
        const credits = await creditsNow(account, { caps: [{ ...cap, bounds: later }] });
        expect(credits.caps).toMatchObject([{ usedMicro: 0, heldMicro: 0, startsAt: dayStart + minute }]);
      };
      await account.admit(0, { caps });
      await expectNotBegun();
      await account.ledger.release(await account.admit(5, { caps }));
      await expectNotBegun();
      await account.admit(5, { caps, leaseMs: second });
      account.clock.advance(second);
      await expectNotBegun();
    });

    it("are raised in the span of the admission alone", async () => {
      const account = await fixture({}, dayStart + day - minute);
      const caps = () => [capOf(account, "day", 100)];
      const before = await account.admit(5, { caps: caps(), leaseMs: 15 * minute });
      account.clock.advance(2 * minute);
      const after = await account.admit(3, { caps: caps() });
      await account.ledger.renew([{ lease: before, observedMicro: 10, leaseMs: 15 * minute }]);
      expect((await creditsNow(account, { caps: caps() })).caps).toMatchObject([{ usedMicro: 0, heldMicro: 3 }]);
      await account.ledger.settle(before, { amountMicro: 10 });
      const settled = await account.ledger.settle(after, { amountMicro: 2 });
      expect(settled.caps).toMatchObject([{ usedMicro: 2, heldMicro: 0 }]);
    });

    it("take nothing of prepaid credits by a raised hold that the plan has room for", async () => {
      const account = await fixture({ month: 100 });
      await topUp(account, 50);
      const lease = await account.admit(5, { caps: [capOf(account, "day", 100)] });
      await account.ledger.renew([{ lease, observedMicro: 9, leaseMs: minute }]);
      expect(await account.counts()).toEqual(everywhere(0, 9));
      await account.ledger.settle(lease, { amountMicro: 9 });
      expect(await account.counts()).toEqual(everywhere(9, 0));
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(50));
    });

    it("hold no more than can be counted, also where no window holds as much", async () => {
      const most = Number.MAX_SAFE_INTEGER;
      const account = await fixture();
      const caps = [capOf(account, "total", most)];
      const brief = { limitMicro: null, bounds: [start - 1, start + 1, start + day, start + 2 * day] } as const;
      const limits = { session: { limitMicro: null, lengthMs: 1 }, week: brief, month: brief };
      await account.admit(most - 1, { caps, limits });
      account.clock.advance(1);
      await expect(account.reserve(2, { caps, limits })).rejects.toBeInstanceOf(LedgerInputError);
      expect((await creditsNow(account, { caps })).caps).toMatchObject([{ heldMicro: most - 1 }]);
      await account.admit(1, { caps, limits });
      expect((await creditsNow(account, { caps })).caps).toMatchObject([{ heldMicro: most }]);
    });

    it("count no further than can be counted, as what prepaid credits are overdrawn", async () => {
      const most = Number.MAX_SAFE_INTEGER;
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      const caps = [capOf(account, "total", most)];
      const leases = [await account.admit(1, { caps }), await account.admit(1, { caps })];
      for (const lease of leases) await account.ledger.settle(lease, { amountMicro: most });
      const credits = await creditsNow(account, { caps });
      expect(credits.caps).toMatchObject([{ usedMicro: most, heldMicro: 0 }]);
      expect(credits.prepaid).toEqual(prepaidLeft(-most));
    });

    it("refuse bounds that miss the store's now", async () => {
      const account = await fixture();
      const caps = [{ ...capOf(account, "day", 10), bounds: [0, day, 2 * day, 3 * day] as const }];
      await expect(account.reserve(1, { caps })).rejects.toBeInstanceOf(LedgerClockError);
      expect(await account.counts()).toEqual(everywhere(0, 0));
      await expect(creditsNow(account, { caps })).rejects.toBeInstanceOf(LedgerClockError);
      // Also where a window denies: the caller's clock is wrong, so the denial may be.
      const denied = await fixture({ session: 0 });
      await expect(denied.reserve(1, { caps })).rejects.toBeInstanceOf(LedgerClockError);
    });
  });
}
