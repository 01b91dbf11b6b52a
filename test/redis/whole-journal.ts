import type { CreditLedger, LedgerEntry } from "../../src/ledger/credit-ledger.js";

/** All pages of an account's journal, the newest entry first. */
export async function wholeJournal({ history }: CreditLedger, account: string): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await history?.({ account, cursor, limit: 1_000 });
    entries.push(...(page?.entries ?? []));
    cursor = page?.cursor;
  } while (cursor !== undefined);
  return entries;
}
