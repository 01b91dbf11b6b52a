import { randomUUID } from "node:crypto";
import type { Clock } from "../../../src/ledger/clock.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { checkAccount, checkHistory, checkTotals } from "../../../src/ledger/ledger-input.js";
import { StatementBooks } from "../../../src/ledger/statement/statement-books.js";
import { DecodedAccount, decodeCore, structureOf } from "../../../src/ledger/storage/decoded-account.js";
import { coreName, type LedgerStorage } from "../../../src/ledger/storage/ledger-storage.js";
import { storageCreditLedger } from "../../../src/ledger/storage/storage-credit-ledger.js";
import { TotalSums } from "../../../src/ledger/usage/total-sums.js";
import { MemoryJournal } from "../../../src/memory/memory-journal.js";
import { type JournalLine, MemoryStorage } from "./memory-storage.js";

/** What a test reads of a storage beside the ledger. */
export interface StorageBooks extends LedgerStorage {
  /** The journal in the order in which it was written. */
  lines(): Promise<readonly JournalLine[]>;
  forget(account: string): Promise<void>;
}

/** A whole ledger over a storage: what it shows of its journal is made of the storage's lines. */
export function ledgerOver(
  clock: Clock,
  books: StorageBooks = new MemoryStorage(clock),
  storage: LedgerStorage = books,
): CreditLedger {
  const ledger = storageCreditLedger(storage, clock, randomUUID);
  const journal = async () => {
    const lines = await books.lines();
    const written = new MemoryJournal(Math.max(1, lines.length));
    for (const { account, at, kind, id, amountMicro, prepaidMicro, starts, tags = {} } of lines) {
      written.write({ account, at, kind, id, amountMicro, starts, tags, ...(prepaidMicro !== 0 && { prepaidMicro }) });
    }
    return written;
  };
  return {
    ...ledger,
    history: async (request) => {
      checkHistory(request);
      return (await journal()).read(request);
    },
    totals: async (request) => {
      checkTotals(request);
      const sums = new TotalSums(request);
      for (const entry of (await journal()).all()) sums.addEntry(entry.account, entry);
      return sums.list();
    },
    statement: async (request) => {
      checkHistory(request);
      // Ends what has expired.
      await ledger.reset(request.account, []);
      const [loaded] = await books.load([{ account: request.account, names: [], entries: [] }]);
      const core = loaded?.records.get(coreName);
      const account = new DecodedAccount(request.account);
      if (core !== undefined) decodeCore(account, { structure: structureOf(core.text), counters: core.counters });
      const prepaid = account.limits?.prepaid;
      const statement = new StatementBooks(request, { now: clock.now(), keptFrom: undefined, prepaid });
      const { entries } = (await journal()).read({ account: request.account, limit: Number.MAX_SAFE_INTEGER });
      for (const entry of entries) statement.add(entry);
      return statement.statement();
    },
    forget: async (account) => {
      checkAccount(account);
      await books.forget(account);
    },
    close: async () => {},
  };
}
