import { expect, it } from "vitest";
import type { LedgerEntry } from "../../../src/ledger/credit-ledger.js";
import { StatementBooks } from "../../../src/ledger/rules/statement.js";

it("a statement has what came back by a release, and what ended in its time, to the millisecond", () => {
  const lots = [
    { expiresAt: 40, left: 5 },
    { expiresAt: 50, left: 2 },
    { expiresAt: 80, left: 7 },
  ];
  const state = { now: 100, keptFrom: undefined, prepaid: { lots, overdrawn: 0 } };
  const books = new StatementBooks({ account: "a", from: 50, to: 80 }, state);
  const released = (at: number, amountMicro: number, prepaidMicro: number): LedgerEntry => ({
    ...{ sequence: `${at}`, id: `${at}`, kind: "release", at, starts: {}, tags: {} },
    ...{ amountMicro, prepaidMicro },
  });
  books.add(released(49, -100, -100));
  books.add(released(60, -10, -4));
  books.add(released(80, -5, -3));
  // 2 + 4 that came back - 2 that ended = 4; then 3 came back, and 7 are left.
  expect(books.statement()).toEqual({
    from: 50,
    to: 80,
    prepaid: { openingMicro: 2, boughtMicro: 0, usedMicro: -4, expiredMicro: 2, takenBackMicro: 0, closingMicro: 4 },
    plan: { usedMicro: -6, grantedMicro: 0 },
  });
});
