import { type CreditLedger, LedgerInputError } from "../../ledger/credit-ledger.js";
import { type Fixture, hour, type RulesInput, second, start, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { creditsNow, prepaidLeft, topUp } from "./limits-fixture.js";

/** When prepaid credits that have expired lapse, while calls come and go. */
export function describeLapse({ describe, it, fixture }: RulesInput): void {
  describe("prepaid credits that have expired", () => {
    it("lapse though calls are open that were admitted after their end", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10, { expiresAt: start + 30 * second });
      await topUp(account, 100);
      const before = await account.admit(8);
      account.clock.advance(30 * second);
      const after = await account.admit(5);
      await account.ledger.settle(before, { amountMicro: 8 });
      expect(await lapsed(account)).toEqual([]);
      await account.admit(5);
      await expectLapsed(account, [-2]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(100, { heldMicro: 10 }));
      await account.ledger.settle(after, { amountMicro: 5 });
      await expectLapsed(account, [-2]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(95, { heldMicro: 5 }));
    });

    it("stay while a call is open that was admitted before their end, and pay for it", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10, { expiresAt: start + 30 * second });
      await topUp(account, 100);
      const before = await account.admit(8);
      account.clock.advance(30 * second);
      await account.spend(5);
      await account.ledger.release(await account.admit(5));
      expect(await lapsed(account)).toEqual([]);
      await account.ledger.settle(before, { amountMicro: 8 });
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(95));
      await account.ledger.reset(account.id, ["week"]);
      await expectLapsed(account, [-2]);
    });

    it("stay for a call that the plan paid so far, and that found them at its admission", async () => {
      const account = await fixture({ week: 10 });
      await topUp(account, 10, { expiresAt: start + 30 * second });
      const before = await account.admit(5);
      account.clock.advance(30 * second);
      await account.spend(5);
      expect(await lapsed(account)).toEqual([]);
      await account.ledger.settle(before, { amountMicro: 12 });
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(0));
      await account.ledger.reset(account.id, ["week"]);
      await expectLapsed(account, [-3]);
    });

    it("stay for none that found no prepaid credits at its admission: they never pay for it", async () => {
      const account = await fixture({ week: 10 });
      const before = await account.admit(5);
      await topUp(account, 10, { expiresAt: start + 30 * second });
      account.clock.advance(30 * second);
      await account.ledger.reset(account.id, ["week"]);
      await expectLapsed(account, [-10]);
      await account.ledger.settle(before, { amountMicro: 12 });
      expect((await account.windows()).week.usedMicro).toBe(12);
    });

    it("lapse by themselves where a call needs only those that ended after its admission", async () => {
      const account = await fixture({ week: 0 });
      for (const lot of [1, 2, 3]) await topUp(account, lot, { expiresAt: start + 10 * lot * second });
      const before = await account.admit(1);
      account.clock.advance(15 * second);
      const between = await account.admit(1);
      account.clock.advance(20 * second);
      await account.ledger.release(before);
      expect(await lapsed(account)).toEqual([]);
      for (let operation = 0; operation < 3; operation++) {
        await account.ledger.reset(account.id, ["week"]);
        if (account.ledger.history) expect(await lapsed(account)).toEqual([-1]);
      }
      await account.ledger.settle(between, { amountMicro: 1 });
      await account.ledger.reset(account.id, ["week"]);
      await expectLapsed(account, [-3, -1, -1]);
      expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(0));
    });

    it("stay until the last of the calls has ended that may need them, in whatever order they end", async () => {
      for (const order of [
        [0, 1, 2, 3],
        [3, 2, 1, 0],
        [2, 0, 3, 1],
      ]) {
        const account = await fixture({ week: 0 });
        await topUp(account, 10, { expiresAt: start + 30 * second });
        await topUp(account, 100);
        const leases = [];
        for (let call = 0; call < 4; call++) leases.push(await account.admit(1));
        account.clock.advance(30 * second);
        await account.admit(1);
        for (const call of order) {
          await account.ledger.reset(account.id, ["week"]);
          expect(await lapsed(account)).toEqual([]);
          await account.ledger.settle(leases[call] as (typeof leases)[number], { amountMicro: 1 });
        }
        await account.ledger.reset(account.id, ["week"]);
        await expectLapsed(account, [-6]);
      }
    });

    it("lapse once the lease of the last call has expired that may need them", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10, { expiresAt: start + 10 * second });
      await topUp(account, 100);
      const before = await account.admit(4, { leaseMs: 40 * second });
      await account.ledger.renew([{ lease: before, observedMicro: 3, leaseMs: 50 * second }]);
      account.clock.advance(49 * second);
      await account.admit(1);
      expect(await lapsed(account)).toEqual([]);
      account.clock.advance(second);
      await account.admit(1);
      await expectLapsed(account, [-7]);
    });

    it("take no place of another expiry, however busy the account is", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 1, { expiresAt: start + second });
      for (let lot = 1; lot < 100; lot++) await topUp(account, 1, { expiresAt: start + hour + lot });
      const before = await account.admit(1);
      account.clock.advance(second);
      await account.admit(1);
      await expect(topUp(account, 1)).rejects.toBeInstanceOf(LedgerInputError);
      await account.ledger.release(before);
      expect((await topUp(account, 1)).lots).toHaveLength(100);
      await expectLapsed(account, [-1]);
    });

    it("are forgotten with the call that needed them", async () => {
      const account = await fixture({ week: 0 });
      await topUp(account, 10, { expiresAt: start + 30 * second });
      const { id } = await account.admit(8);
      account.clock.advance(30 * second);
      await account.ledger.reset(account.id, ["week"]);
      await account.ledger.forget(account.id);
      const other = unique("account");
      await account.ledger.topUp?.({ id: unique("topup"), account: other, amountMicro: 5 });
      await account.admit(1, { id, account: other });
      await topUp(account, 5, { expiresAt: start + 40 * second });
      account.clock.advance(10 * second);
      await account.ledger.reset(account.id, ["week"]);
      await expectLapsed(account, [-5]);
    });
  });
}

type Entries = Awaited<ReturnType<NonNullable<CreditLedger["history"]>>>["entries"];

async function entriesOf({ ledger, id }: Fixture): Promise<Entries> {
  return (await ledger.history?.({ account: id, limit: 1_000 }))?.entries ?? [];
}

/** What has lapsed according to the journal, the newest first. */
async function lapsed(account: Fixture): Promise<number[]> {
  const entries = (await entriesOf(account)).filter(({ kind }) => kind === "expiry");
  // Nobody gives them an id, and each has one of its own.
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  return entries.map(({ amountMicro }) => amountMicro);
}

/** The journal says so, and adds up to the balance. */
async function expectLapsed(account: Fixture, amounts: readonly number[]): Promise<void> {
  if (account.ledger.history === undefined) return;
  expect(await lapsed(account)).toEqual(amounts);
  const sum = (await entriesOf(account)).reduce((all, { kind, amountMicro, prepaidMicro = 0 }) => {
    return kind === "topup" || kind === "deduction" || kind === "expiry" ? all + amountMicro : all - prepaidMicro;
  }, 0);
  expect((await creditsNow(account)).prepaid?.balanceMicro).toBe(sum);
}
