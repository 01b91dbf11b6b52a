import { type CreditLedger, LedgerInputError } from "../../ledger/credit-ledger.js";
import type { AccountStatement, PrepaidStatement } from "../../ledger/usage/usage-request.js";
import { day, type Fixture, hour, minute, type RulesInput, second, start, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { creditsNow, deduct, topUp } from "./limits-fixture.js";

type Statement = (range?: { from?: number; to?: number }) => Promise<AccountStatement>;

/** An account's prepaid credits over a time, in the order in which they are added up. */
type Line = readonly [
  opening: number,
  bought: number,
  used: number,
  expired: number,
  takenBack: number,
  closing: number,
];

function lineOf({ prepaid }: AccountStatement): Line {
  const { openingMicro, boughtMicro, usedMicro, expiredMicro, takenBackMicro, closingMicro } = prepaid;
  return [openingMicro, boughtMicro, usedMicro, expiredMicro, takenBackMicro, closingMicro];
}

/** Statements of an account, by the ledger. */
export function statementsOf({ ledger, id }: { ledger: CreditLedger; id: string }): Statement | undefined {
  const { statement } = ledger;
  return statement && ((range) => statement({ account: id, ...range }));
}

function sum(one: PrepaidStatement, other: PrepaidStatement): PrepaidStatement {
  return {
    openingMicro: one.openingMicro,
    boughtMicro: one.boughtMicro + other.boughtMicro,
    usedMicro: one.usedMicro + other.usedMicro,
    expiredMicro: one.expiredMicro + other.expiredMicro,
    takenBackMicro: one.takenBackMicro + other.takenBackMicro,
    closingMicro: other.closingMicro,
  };
}

/**
 * The statement up to now ends with the balance, and the one of all time begins with nothing. Cut at any moments, each ends
 * with what the next one begins with, and all of them come to the whole.
 */
export async function expectStatementsToAddUp(
  statement: Statement,
  balanceMicro: number,
  cuts: readonly number[],
): Promise<void> {
  const whole = await statement();
  expect(whole.prepaid.closingMicro).toBe(balanceMicro);
  if (whole.from === null) expect(whole.prepaid.openingMicro).toBe(0);
  const moments = [undefined, ...[...cuts].sort((one, other) => one - other), undefined];
  const parts: AccountStatement[] = [];
  for (const [index, from] of moments.slice(0, -1).entries()) {
    const to = moments[index + 1];
    parts.push(await statement({ ...(from !== undefined && { from }), ...(to !== undefined && { to }) }));
  }
  for (const [index, { prepaid }] of parts.entries()) {
    const { openingMicro, boughtMicro, usedMicro, expiredMicro, takenBackMicro, closingMicro } = prepaid;
    expect(openingMicro + boughtMicro - usedMicro - expiredMicro - takenBackMicro).toBe(closingMicro);
    const next = parts[index + 1];
    if (next !== undefined) expect(next.prepaid.openingMicro).toBe(closingMicro);
  }
  expect(parts.map(({ prepaid }) => prepaid).reduce(sum)).toEqual(whole.prepaid);
  const plan = parts.map(({ plan }) => plan);
  expect({
    usedMicro: plan.reduce((all, { usedMicro }) => all + usedMicro, 0),
    grantedMicro: plan.reduce((all, { grantedMicro }) => all + grantedMicro, 0),
  }).toEqual(whole.plan);
}

/** What statements say. A ledger without `statement` passes it by. */
export function describeStatements({ describe, it, fixture }: RulesInput): void {
  /** Defines a test of the statements of a fresh account, which must add up when it has ended. */
  function statementIt(
    title: string,
    plan: Parameters<typeof fixture>[0],
    test: (account: Fixture, statement: Statement) => Promise<void>,
  ): void {
    it(title, async ({ skip }) => {
      const account = await fixture(plan);
      const statement = statementsOf(account);
      if (statement === undefined) return skip("The ledger makes no statements.");
      await test(account, statement);
      const { prepaid, now } = await creditsNow(account);
      const cuts = [start, start + 1, start + minute, start + hour, start + day, now - 1, now, now + 1, now + day];
      await expectStatementsToAddUp(statement, prepaid?.balanceMicro ?? 0, cuts);
    });
  }

  const pay = async (account: Fixture, amountMicro: number) =>
    account.ledger.settle(await account.admit(amountMicro), { amountMicro });

  describe("a statement", () => {
    statementIt("of an account of which nothing is known is of nothing", {}, async (_, statement) => {
      const { from, to, prepaid, plan } = await statement();
      expect([from === null || from < start, to]).toEqual([true, start + 1]);
      expect([...Object.values(prepaid), ...Object.values(plan)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    });

    // 100 bought, 7 of a call's 17 used as the plan had 10, 20 taken back, 13 of a gift of 15 expired after 2 were used.
    statementIt("adds up to the balance", { month: 10 }, async (account, statement) => {
      await topUp(account, 100);
      account.clock.advance(hour);
      await pay(account, 17);
      account.clock.advance(hour);
      await topUp(account, 15, { expiresAt: start + 5 * hour });
      await pay(account, 2);
      await deduct(account, 20);
      expect(lineOf(await statement())).toEqual([0, 115, 9, 0, 20, 86]);
      account.clock.advance(day);
      expect(lineOf(await statement({ from: start, to: start + hour }))).toEqual([0, 100, 0, 0, 0, 100]);
      expect(lineOf(await statement({ from: start + hour, to: start + 2 * hour }))).toEqual([100, 0, 7, 0, 0, 93]);
      // The deduction has taken what would have expired first: 13 of the 20.
      expect(lineOf(await statement({ from: start + 2 * hour }))).toEqual([93, 15, 2, 0, 20, 86]);
      expect((await statement()).plan).toEqual({ usedMicro: 10, grantedMicro: 0 });
    });

    statementIt(
      "has what expired in the time in which it ended, whenever that is noticed",
      { month: 0 },
      async (account, statement) => {
        await topUp(account, 30, { expiresAt: start + hour });
        await topUp(account, 20, { expiresAt: start + 2 * hour });
        await topUp(account, 7);
        account.clock.advance(9 * day);
        // Nothing has been done with the account since.
        expect(lineOf(await statement({ to: start + hour }))).toEqual([0, 57, 0, 0, 0, 57]);
        expect(lineOf(await statement({ from: start, to: start + hour + 1 }))).toEqual([0, 57, 0, 30, 0, 27]);
        await pay(account, 4);
        account.clock.advance(day);
        expect(lineOf(await statement({ from: start, to: start + hour + 1 }))).toEqual([0, 57, 0, 30, 0, 27]);
        expect(lineOf(await statement({ from: start + day }))).toEqual([7, 0, 4, 0, 0, 3]);
        expect(lineOf(await statement())).toEqual([0, 57, 4, 50, 0, 3]);
      },
    );

    statementIt(
      "says that credits have expired which an open call may still use",
      { month: 0 },
      async (account, statement) => {
        await topUp(account, 30, { expiresAt: start + hour });
        const lease = await account.admit(10, { leaseMs: 15 * minute });
        for (let minutes = 10; minutes <= 70; minutes += 10) {
          account.clock.advance(10 * minute);
          await account.ledger.renew([{ lease, observedMicro: 1, leaseMs: 15 * minute }]);
        }
        expect(lineOf(await statement())).toEqual([0, 30, 0, 30, 0, 0]);
        await account.ledger.settle(lease, { amountMicro: 8 });
        expect(lineOf(await statement())).toEqual([0, 30, 8, 22, 0, 0]);
      },
    );

    statementIt("shows debt, and the top-up that pays it", { month: 0 }, async (account, statement) => {
      await topUp(account, 10);
      await pay(account, 25);
      await deduct(account, 5);
      account.clock.advance(hour);
      expect(lineOf(await statement())).toEqual([0, 10, 25, 0, 5, -20]);
      await topUp(account, 50);
      expect(lineOf(await statement({ from: start + hour }))).toEqual([-20, 50, 0, 0, 0, 30]);
    });

    statementIt("counts what comes again with the same id once", { month: 0 }, async (account, statement) => {
      const id = unique("payment");
      for (let time = 0; time < 3; time++) await topUp(account, 10, { id });
      const lease = await account.admit(4);
      for (let time = 0; time < 3; time++) await account.ledger.settle(lease, { amountMicro: 4 });
      const refund = unique("refund");
      for (let time = 0; time < 3; time++) await deduct(account, 1, { id: refund });
      expect(lineOf(await statement())).toEqual([0, 10, 4, 0, 1, 5]);
    });

    statementIt("books a late settlement by what had been charged before", { month: 2 }, async (account, statement) => {
      await topUp(account, 100);
      const lease = await account.admit(20, { leaseMs: second });
      await account.ledger.renew([{ lease, observedMicro: 12, leaseMs: second }]);
      account.clock.advance(hour);
      // The lease has expired, and nothing has ended it before the statement did.
      expect(lineOf(await statement())).toEqual([0, 100, 10, 0, 0, 90]);
      account.clock.advance(hour);
      await account.ledger.settle(lease, { amountMicro: 5 });
      expect(lineOf(await statement())).toEqual([0, 100, 3, 0, 0, 97]);
      expect(lineOf(await statement({ from: start + 2 * hour }))).toEqual([90, 0, -7, 0, 0, 97]);
      expect((await statement()).plan.usedMicro).toBe(2);
    });

    statementIt("has what the plan paid and was granted beside it", { month: 50 }, async (account, statement) => {
      const { id, limits } = account;
      await pay(account, 30);
      account.clock.advance(hour);
      await account.ledger.grant({ id: unique("grant"), account: id, window: "month", amountMicro: 25, limits });
      await pay(account, 8);
      await account.ledger.reset(id, ["month"]);
      expect((await statement({ to: start + hour })).plan).toEqual({ usedMicro: 30, grantedMicro: 0 });
      expect((await statement({ from: start + hour })).plan).toEqual({ usedMicro: 8, grantedMicro: 25 });
      expect(lineOf(await statement())).toEqual([0, 0, 0, 0, 0, 0]);
    });

    statementIt("is of nothing once the account is forgotten", { month: 0 }, async (account, statement) => {
      await topUp(account, 10);
      await pay(account, 4);
      account.clock.advance(second);
      await account.ledger.forget(account.id);
      expect(lineOf(await statement())).toEqual([0, 0, 0, 0, 0, 0]);
      account.clock.advance(second);
      await topUp(account, 3);
      expect(lineOf(await statement())).toEqual([0, 3, 0, 0, 0, 3]);
    });

    statementIt("is of no time where that ends before it begins", { month: 0 }, async (account, statement) => {
      await topUp(account, 10);
      account.clock.advance(day);
      expect(lineOf(await statement({ from: start + hour, to: start }))).toEqual([0, 0, 0, 0, 0, 0]);
      expect(lineOf(await statement({ from: start + 2 * day }))).toEqual([10, 0, 0, 0, 0, 10]);
    });

    statementIt("refuses what makes no sense", {}, async (account) => {
      for (const range of [{ from: 0.5 }, { to: Number.NaN }]) {
        const refused = account.ledger.statement?.({ account: account.id, ...range });
        await expect(Promise.resolve(refused)).rejects.toBeInstanceOf(LedgerInputError);
      }
    });
  });
}
