import type { CreditLedger, LedgerEntry } from "../../src/ledger/credit-ledger.js";

/** All of an account's journal, the newest first. */
export async function journalOf(ledger: CreditLedger, account: string): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.history?.({ account, cursor, limit: 1_000 });
    entries.push(...(page?.entries ?? []));
    cursor = page?.cursor;
  } while (cursor !== undefined);
  return entries;
}
