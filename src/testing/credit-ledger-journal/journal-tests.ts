import {
  type HistoryPage,
  type HistoryRequest,
  type LedgerEntry,
  type WindowName,
  windowNames,
} from "../../ledger/credit-ledger.js";
import type { Fixture, MakeFixture } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import type { AnyRunner } from "../test-runner.js";

/** An account of a ledger. */
export type JournalOwner = Pick<Fixture, "ledger" | "id">;

/** The entries of the account, the oldest first; `undefined` where the ledger keeps none. */
export async function entriesOf(account: JournalOwner, more: Partial<HistoryRequest> = {}): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await account.ledger.history?.({ account: account.id, cursor, ...more });
    entries.push(...(page?.entries ?? []));
    cursor = page?.cursor;
  } while (cursor !== undefined);
  return entries.reverse();
}

/** The use of one window's instance, by the journal. */
export function foldUse(entries: readonly LedgerEntry[], window: WindowName, startsAt: number | null): number {
  let used = 0;
  for (const { kind, amountMicro, prepaidMicro = 0, starts } of entries) {
    if (kind === "grant" || startsAt === null || starts[window] !== startsAt) continue;
    used = Math.min(Math.max(0, used + amountMicro - prepaidMicro), Number.MAX_SAFE_INTEGER);
  }
  return used;
}

export async function expectBooksToBalance(account: Fixture): Promise<void> {
  const entries = await entriesOf(account, { limit: 7 });
  const windows = await account.windows();
  for (const window of windowNames) {
    const { usedMicro, bonusMicro, startsAt } = windows[window];
    const grants = entries.filter(({ kind, starts }) => kind === "grant" && starts[window] === startsAt);
    expect({ window, used: foldUse(entries, window, startsAt), bonus: sum(grants) }).toEqual({
      window,
      used: usedMicro,
      bonus: bonusMicro,
    });
  }
}

function sum(entries: readonly LedgerEntry[]): number {
  return entries.reduce((total, { amountMicro }) => total + amountMicro, 0);
}

/** Kind and amount of each entry, the oldest first. */
export async function linesOf(account: Fixture): Promise<[LedgerEntry["kind"], number][]> {
  return (await entriesOf(account)).map(({ kind, amountMicro }) => [kind, amountMicro]);
}

type History = (request?: Partial<HistoryRequest>) => Promise<HistoryPage>;

/** Defines a test of the journal of a fresh account. A ledger without `history` passes it by. */
export type JournalIt = (
  title: string,
  test: (account: Fixture, history: History) => Promise<void>,
  now?: number,
) => void;

/** The books of the account must balance when a test has ended. */
export function journalTests(makeFixture: MakeFixture, it: AnyRunner["it"]): JournalIt {
  return (title, test, now) =>
    it(title, async ({ skip }) => {
      const account = await makeFixture({}, now);
      const history = account.ledger.history;
      if (history === undefined) return skip("The ledger keeps no journal.");
      await test(account, (request = {}) => history({ account: account.id, ...request }));
      await expectBooksToBalance(account);
    });
}
