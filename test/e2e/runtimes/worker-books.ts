import { expect, vi } from "vitest";
import type { CreditLedger, LedgerEntry, LoggedRequest, RequestLog } from "../../../src/index.js";
import { Calendar } from "../../../src/ledger/calendar.js";

/** The stores of a Worker, as another process reads them. */
export interface WorkerBooks {
  readonly ledger: CreditLedger;
  readonly requestLog: RequestLog;
}

export interface Written {
  readonly charges: readonly LedgerEntry[];
  readonly lines: readonly LoggedRequest[];
}

/** Waits until so many charges and lines of the account are written behind the responses. */
export async function writtenOf({ ledger, requestLog }: WorkerBooks, account: string, count: number): Promise<Written> {
  return vi.waitFor(
    async () => {
      const { entries = [] } = (await ledger.history?.({ account, limit: 1000 })) ?? {};
      const charges = entries.filter(({ kind }) => kind === "charge");
      const { requests: lines } = await requestLog.list({ account, limit: 1000 });
      expect([charges.length, lines.length]).toEqual([count, count]);
      return { charges, lines };
    },
    { timeout: 60_000, interval: 100 },
  );
}

/** Journal, log and ledger say the same of the account, and nothing is held. */
export async function expectBooksToAgree(
  books: WorkerBooks,
  account: string,
  { charges, lines }: Written,
): Promise<void> {
  const charged = sum(charges.map(({ amountMicro }) => amountMicro));
  const limits = new Calendar(undefined).limits({ session: null, week: null, month: null }, 1, Date.now());
  const { windows } = await books.ledger.balance(account, limits);
  expect({ logged: sum(lines.map(({ chargedMicro }) => chargedMicro)), held: windows.month.heldMicro }).toEqual({
    logged: charged,
    held: 0,
  });
  expect(windows.month.usedMicro).toBe(charged);
}

function sum(all: readonly number[]): number {
  return all.reduce((one, other) => one + other, 0);
}
