import { LedgerConflictError, LedgerInputError, type WindowName } from "../../ledger/credit-ledger.js";
import {
  admitted,
  day,
  denied,
  everywhere,
  type Fixture,
  hour,
  minute,
  type RulesInput,
  second,
  start,
  unique,
} from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { creditsNow, deduct, prepaidLeft, topUp } from "./limits-fixture.js";

/** How the plan and prepaid credits pay together, and how prepaid credits are taken back. */
export function describeFunding(input: RulesInput): void {
  describePool(input);
  describeSplits(input);
  describeDeductions(input);
}

function describePool({ describe, it, fixture }: RulesInput): void {
  describe("the plan and prepaid credits, as one pool", () => {
    it("admit while they come to more than zero together, and hold of the plan first", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 5);
      const lease = await account.admit(12);
      expect(lease.prepaidMicro).toBe(2);
      expect(await account.counts()).toEqual(everywhere(0, 10));
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(5, { heldMicro: 2 }));
      expect((await account.admit(50)).prepaidMicro).toBe(50);
      const { blocked, windows } = denied(await account.reserve(1));
      expect(blocked).toEqual([{ window: "month", cause: "held", availableAt: start + 5 * second }]);
      expect(windows.month).toMatchObject({ usedMicro: 0, heldMicro: 10 });
    });

    it("leave prepaid credits alone while calls hold what they will not use: 20 of 32, of 100", async () => {
      const account = await fixture({ month: 100 });
      await topUp(account, 100);
      // Seven fit, as the last one takes what is left: 3 x 32 + 4 of the plan, then 28 + 2 x 32 + 8 of prepaid credits.
      const leases = [];
      for (let call = 0; call < 20; call++) {
        const result = await account.reserve(32);
        if (result.ok) leases.push(result.lease);
      }
      expect(leases.map(({ prepaidMicro }) => prepaidMicro)).toEqual([0, 0, 0, 28, 32, 32, 32]);
      for (const lease of leases) await account.ledger.settle(lease, { amountMicro: 3 });
      expect((await account.windows()).month).toMatchObject({ usedMicro: 21, heldMicro: 0 });
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(100));
    });

    it("hold all of it in the windows of an account without prepaid credits, also of one in debt", async () => {
      const account = await fixture({ month: 10 });
      expect((await account.admit(12)).prepaidMicro).toBeUndefined();
      const debtor = await fixture({ month: 10 });
      await deduct(debtor, 5);
      expect((await debtor.admit(12)).prepaidMicro).toBeUndefined();
      expect(await debtor.counts()).toEqual(everywhere(0, 12));
      expect((await creditsNow(debtor)).prepaid).toEqual(prepaidLeft(-5));
    });

    it("begin no session for what prepaid credits hold alone", async () => {
      const account = await fixture({ session: 10, week: 0 });
      await topUp(account, 100);
      expect((await account.admit(30)).prepaidMicro).toBe(30);
      expect((await account.windows()).session.startsAt).toBeNull();
    });

    it("take no debt of the one from the other", async () => {
      const account = await fixture({ month: 10 });
      await account.spend(30);
      await topUp(account, 5);
      account.plan = { month: 2 };
      const lease = await account.admit(3);
      expect(lease.prepaidMicro).toBe(3);
      await account.ledger.settle(lease, { amountMicro: 3 });
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(2));
    });

    it("hold no more of prepaid credits than a call can cost, where others hold more than the plan has", async () => {
      const account = await fixture({ month: 10 });
      await account.admit(12);
      await topUp(account, 5);
      expect((await account.admit(3)).prepaidMicro).toBe(3);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(5, { heldMicro: 3 }));
      expect(await account.counts()).toEqual(everywhere(0, 12));
    });

    it("deny for what is used only where nothing would be left without holds", async () => {
      const account = await fixture({ month: 10 });
      await account.spend(10);
      await topUp(account, 5);
      await account.admit(5);
      expect(denied(await account.reserve(1)).blocked[0].cause).toBe("held");
      const empty = await fixture({ month: 10 });
      await topUp(empty, 5);
      await empty.spend(15);
      expect((await creditsNow(empty)).prepaid).toEqual(prepaidLeft(0));
      expect(denied(await empty.reserve(1)).blocked[0].cause).toBe("used");
    });

    it("admit strictly what fits in both", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 5);
      expect((await account.reserve(16, { strict: true })).ok).toBe(false);
      expect((await account.reserve(15, { strict: true })).ok).toBe(true);
    });

    it("name the windows that deny, and not those that have room", async () => {
      const account = await fixture({ session: 10, month: 1_000 });
      await topUp(account, 5);
      await account.spend(20);
      const { blocked } = denied(await account.reserve(1));
      expect(blocked.map(({ window }): WindowName => window)).toEqual(["session"]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(-5));
    });
  });
}

function describeSplits({ describe, it, fixture }: RulesInput): void {
  /** A settled call of its own. */
  async function pay(account: Fixture, amountMicro: number) {
    return account.ledger.settle(await account.admit(amountMicro), { amountMicro });
  }

  describe("a charge that the plan and prepaid credits share", () => {
    it("takes what the plan has room for, to the micro-credit, and prepaid credits for the rest", async () => {
      const account = await fixture({ session: 10, month: 12 });
      await topUp(account, 100);
      const { prepaid, prepaidMicro, windows } = await pay(account, 17);
      expect(prepaidMicro).toBe(7);
      expect(prepaid).toEqual(prepaidLeft(93));
      expect(windows).toMatchObject({ session: { usedMicro: 10 }, month: { usedMicro: 10 } });
    });

    it("is one line of the journal, that says how much each paid", async () => {
      const account = await fixture({ month: 10 });
      if (account.ledger.history === undefined) return;
      await topUp(account, 100);
      for (const amount of [4, 8, 3]) await pay(account, amount);
      const { entries } = await account.ledger.history({ account: account.id });
      const lines = entries.map(({ kind, amountMicro, prepaidMicro, starts }) => {
        return [kind, amountMicro, prepaidMicro, Object.keys(starts).length];
      });
      expect(lines).toEqual([
        ["charge", 3, 3, 0],
        ["charge", 8, 2, 3],
        ["charge", 4, undefined, 3],
        ["topup", 100, undefined, 0],
      ]);
    });

    it("is in the sums of both by what each paid, and is one request", async () => {
      const account = await fixture({ month: 10 });
      if (account.ledger.usage === undefined) return;
      await topUp(account, 100);
      const lease = await account.admit(14);
      await account.ledger.settle(lease, { amountMicro: 14, tags: { model: "m", output: 14 } });
      const sums = await account.ledger.usage({ account: account.id, by: ["funding"] });
      expect(
        sums.map(({ by, requests, chargedMicro, tokens }) => [by["funding"], requests, chargedMicro, tokens.output]),
      ).toEqual([
        ["plan", 1, 10, 14],
        ["prepaid", 0, 4, 0],
      ]);
    });

    it("overdraws prepaid credits with what neither covers", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 5);
      expect((await pay(account, 40)).prepaidMicro).toBe(30);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(-25));
      expect((await account.windows()).month.usedMicro).toBe(10);
    });

    it("overdraws the windows of an account that has none", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 5);
      await pay(account, 15);
      await account.ledger.reset(account.id, ["month"]);
      expect((await pay(account, 40)).prepaidMicro).toBeUndefined();
      expect((await account.windows()).month.usedMicro).toBe(40);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(0));
    });

    it("is decided at its end: a top-up meanwhile pays what the plan has no room for", async () => {
      const account = await fixture({ month: 10 });
      const lease = await account.admit(40);
      await topUp(account, 100);
      expect((await account.ledger.settle(lease, { amountMicro: 40 })).prepaidMicro).toBe(30);
      expect((await account.windows()).month.usedMicro).toBe(10);
    });

    it("goes by the limits of the admission", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 100);
      const lease = await account.admit(40);
      account.plan = { month: 1_000 };
      expect((await account.ledger.settle(lease, { amountMicro: 40 })).prepaidMicro).toBe(30);
    });

    it("counts the grants of a window as room", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 100);
      const lease = await account.admit(40);
      await account.ledger.grant({
        id: unique("grant"),
        account: account.id,
        window: "month",
        amountMicro: 25,
        limits: account.limits,
      });
      expect((await account.ledger.settle(lease, { amountMicro: 40 })).prepaidMicro).toBe(5);
    });

    it("is not limited by a window that has ended since", async () => {
      const account = await fixture({ session: 10, month: 1_000 });
      await account.spend(4);
      await topUp(account, 100);
      const lease = await account.admit(30, { leaseMs: 15 * minute });
      expect(lease.prepaidMicro).toBe(24);
      for (let minutes = 0; minutes < 310; minutes += 10) {
        account.clock.advance(10 * minute);
        await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: 15 * minute }]);
      }
      expect((await account.ledger.settle(lease, { amountMicro: 30 })).prepaidMicro).toBeUndefined();
      expect((await account.windows()).month.usedMicro).toBe(34);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(100));
    });

    it("is the plan's where all its windows have ended, if the plan held a part of it, else prepaid", async () => {
      for (const [limit, afterMs, prepaidMicro] of [
        [10, 10 * second - 1, 20],
        [10, 10 * second, undefined],
        [0, 20 * second, 30],
      ] as const) {
        const account = await fixture({ week: limit }, Date.UTC(2026, 2, 15, 23, 59, 50));
        await topUp(account, 100);
        const lease = await account.admit(30);
        account.clock.advance(afterMs);
        expect((await account.ledger.settle(lease, { amountMicro: 30 })).prepaidMicro).toBe(prepaidMicro);
      }
    });

    it("is not limited by a session that has begun after its own, which nothing was counted in", async () => {
      const account = await fixture({ session: 10, week: 0 });
      await topUp(account, 100);
      const lease = await account.admit(30);
      account.clock.advance(second);
      account.plan = { session: 10 };
      const grant = { account: account.id, window: "week", amountMicro: 100, limits: account.limits } as const;
      await account.ledger.grant({ id: unique("grant"), ...grant });
      await account.spend(4);
      expect((await account.ledger.settle(lease, { amountMicro: 30 })).prepaidMicro).toBeUndefined();
      expect(await account.windows()).toMatchObject({ session: { usedMicro: 4 }, week: { usedMicro: 34 } });
    });

    it("is repeated with what prepaid credits paid", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 100);
      const lease = await account.admit(40);
      await account.ledger.settle(lease, { amountMicro: 17 });
      const again = await account.ledger.settle(lease, { amountMicro: 17, mayBeDuplicateSince: start });
      expect([again.status, again.prepaidMicro]).toEqual(["duplicate", 7]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(93));
    });

    it("is split at the expiry of a lease, and what comes back goes to prepaid credits first", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 100);
      const lease = await account.admit(40);
      await account.ledger.renew([{ lease, observedMicro: 30, leaseMs: minute }]);
      account.clock.advance(minute);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(80));
      expect((await account.windows()).month).toMatchObject({ usedMicro: 10, heldMicro: 0 });
      await account.ledger.renew([{ lease, observedMicro: 32, leaseMs: minute }]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(78));
      const { status, prepaidMicro } = await account.ledger.settle(lease, { amountMicro: 7 });
      expect([status, prepaidMicro]).toEqual(["late", undefined]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(100));
      expect((await account.windows()).month.usedMicro).toBe(7);
    });

    it("is split at the expiry of a lease that was admitted before the first top-up", async () => {
      const account = await fixture({ month: 10 });
      const lease = await account.admit(40);
      await account.ledger.renew([{ lease, observedMicro: 30, leaseMs: minute }]);
      await topUp(account, 100);
      account.clock.advance(minute);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(80));
      const { prepaidMicro } = await account.ledger.settle(lease, { amountMicro: 25 });
      expect(prepaidMicro).toBe(15);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(85));
    });

    it("raises its hold of prepaid credits, and gives all of it back", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 100);
      const lease = await account.admit(12);
      await account.ledger.renew([{ lease, observedMicro: 20, leaseMs: minute }]);
      expect((await creditsNow(account)).prepaid?.heldMicro).toBe(10);
      expect(await account.counts()).toEqual(everywhere(0, 10));
      await account.ledger.release(lease);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(100));
      expect(await account.counts()).toEqual(everywhere(0, 0));
    });

    it("overdraws prepaid credits of which a lease held some that the ledger has lost, as it has the account", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 100);
      const lease = await account.admit(40);
      const other = await fixture({ month: 10 });
      const lost = { ...lease, id: unique("id"), account: other.id };
      const { status, prepaidMicro, prepaid } = await other.ledger.settle(lost, { amountMicro: 40 });
      expect([status, prepaidMicro, prepaid]).toEqual(["recovered", 30, prepaidLeft(-30)]);
      expect((await other.windows()).month.usedMicro).toBe(10);
    });

    it("uses credits that have expired since its admission, while any call of the account is open", async () => {
      const account = await fixture({ month: 10 });
      await topUp(account, 8, { expiresAt: start + 10 * second });
      const planned = await account.admit(10);
      const paidByThePlan = await account.admit(8);
      await account.ledger.settle(paidByThePlan, { amountMicro: 8 });
      account.clock.advance(20 * second);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(0));
      expect((await account.ledger.settle(planned, { amountMicro: 10 })).prepaidMicro).toBe(8);
      expect((await account.windows()).month.usedMicro).toBe(10);
    });
  });
}

function describeDeductions({ describe, it, fixture, ids }: RulesInput): void {
  describe("deductions", () => {
    it("take what expires first, and leave a debt that the next top-up pays first", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      await topUp(account, 10, { expiresAt: start + hour });
      expect((await deduct(account, 15)).lots).toEqual([{ expiresAt: null, leftMicro: 5 }]);
      expect(await deduct(account, 1_000)).toEqual(prepaidLeft(-995));
      expect(denied(await account.reserve(1)).blocked[0].cause).toBe("used");
      expect(await topUp(account, 1_000)).toEqual(prepaidLeft(5));
    });

    it("leave what open calls hold to their end", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10);
      const lease = await account.admit(8);
      expect(await deduct(account, 10)).toEqual(prepaidLeft(0, { heldMicro: 8 }));
      expect((await account.ledger.settle(lease, { amountMicro: 8 })).prepaid).toEqual(prepaidLeft(-8));
    });

    it("take nothing that has expired, though an open call may", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 8, { expiresAt: start + 10 * second });
      const lease = await account.admit(8);
      account.clock.advance(20 * second);
      expect(await deduct(account, 5)).toEqual(prepaidLeft(-5, { heldMicro: 8 }));
      expect((await account.ledger.settle(lease, { amountMicro: 8 })).prepaid).toEqual(prepaidLeft(-5));
    });

    it("are made once for each id, which no top-up shares", async () => {
      const account = await fixture({ week: 0 });
      const id = unique("deduction");
      await topUp(account, 10);
      await deduct(account, 4, { id });
      expect(await deduct(account, 4, { id })).toEqual(prepaidLeft(6));
      await expect(deduct(account, 5, { id })).rejects.toBeInstanceOf(LedgerConflictError);
      await expect(topUp(account, 4, { id })).rejects.toBeInstanceOf(LedgerConflictError);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(6));
    });

    it("are in the journal by a kind of their own, and name no window", async () => {
      const account = await fixture({ week: 0 });
      if (account.ledger.history === undefined || account.ledger.deduct === undefined) return;
      const id = unique("deduction");
      await account.ledger.deduct({ id, account: account.id, amountMicro: 7, by: "ann", note: "chargeback" });
      const { entries } = await account.ledger.history({ account: account.id });
      expect(entries.map(({ sequence, ...entry }) => entry)).toEqual([
        { id, kind: "deduction", at: start, amountMicro: -7, starts: {}, tags: { by: "ann", note: "chargeback" } },
      ]);
    });

    it("refuse what is no amount", async () => {
      const account = await fixture();
      for (const amount of [0, -1, 0.5, Number.NaN, 2 ** 53]) {
        await expect(deduct(account, amount)).rejects.toBeInstanceOf(LedgerInputError);
      }
      expect((await creditsNow(account)).prepaid).toBeUndefined();
    });

    it("and top-ups have ids that are given to one account, for a ledger of several", async () => {
      const { ledger, id: account } = await fixture();
      if (ledger.claimTopUp === undefined) return;
      const id = unique("topup");
      await ledger.claimTopUp(id, account);
      await ledger.claimTopUp(id, account);
      const byAnother = async () => ledger.claimTopUp?.(id, unique("account"));
      await expect(byAnother()).rejects.toBeInstanceOf(LedgerConflictError);
      await ledger.topUp?.({ id, account, amountMicro: 1 });
    });

    it("are of one account for each id", async () => {
      const account = await fixture({ week: 0 });
      if (ids !== "unique" && account.ledger.claimTopUp === undefined) return;
      const id = unique("deduction");
      await deduct(account, 4, { id });
      const other = await fixture({ week: 0 });
      const ofAnother = async () => account.ledger.deduct?.({ id, account: other.id, amountMicro: 4 });
      await expect(ofAnother()).rejects.toBeInstanceOf(LedgerConflictError);
    });
  });

  describe("a sweep", () => {
    it("charges what an expired lease had reported, though nobody calls the account again", async () => {
      const account = await fixture({ month: 10 });
      if (account.ledger.sweep === undefined || account.ledger.history === undefined) return;
      await topUp(account, 100);
      const lease = await account.admit(40);
      await account.ledger.renew([{ lease, observedMicro: 30, leaseMs: minute }]);
      account.clock.advance(minute - 1);
      await account.ledger.sweep();
      const kinds = async () =>
        (await account.ledger.history?.({ account: account.id }))?.entries.map(({ kind, amountMicro }) => [
          kind,
          amountMicro,
        ]);
      expect(await kinds()).toEqual([["topup", 100]]);
      account.clock.advance(1);
      await account.ledger.sweep();
      expect(await kinds()).toEqual([
        ["checkpoint", 30],
        ["topup", 100],
      ]);
      await account.ledger.sweep();
      expect((await kinds())?.length).toBe(2);
      account.clock.advance(day);
      expect(admitted(await account.reserve(1)).windows.month.usedMicro).toBe(10);
    });
  });
}
