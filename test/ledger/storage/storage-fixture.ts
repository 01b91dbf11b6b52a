import type { Clock } from "../../../src/ledger/clock.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { checkAccount, checkHistory, checkTotals } from "../../../src/ledger/ledger-input.js";
import { StatementBooks } from "../../../src/ledger/statement/statement-books.js";
import { coreName, type LedgerStorage } from "../../../src/ledger/storage/ledger-storage.js";
import { storageCreditLedger } from "../../../src/ledger/storage/storage-credit-ledger.js";
import { decodeCore, StoredAccount } from "../../../src/ledger/storage/stored-account.js";
import { TotalSums } from "../../../src/ledger/usage/total-sums.js";
import { MemoryJournal } from "../../../src/memory/memory-journal.js";
import { MemoryStorage } from "./memory-storage.js";

/** A whole ledger over a storage in memory: what it shows of its journal is made of the storage's lines. */
export function ledgerOver(
  clock: Clock,
  memory = new MemoryStorage(clock),
  storage: LedgerStorage = memory,
): CreditLedger {
  const ledger = storageCreditLedger(storage, clock);
  const journal = () => {
    const lines = new MemoryJournal(Math.max(1, memory.journal.length));
    for (const { account, at, kind, id, amountMicro, prepaidMicro, starts, tags = {} } of memory.journal) {
      lines.write({ account, at, kind, id, amountMicro, starts, tags, ...(prepaidMicro !== 0 && { prepaidMicro }) });
    }
    return lines;
  };
  return {
    ...ledger,
    history: async (request) => {
      checkHistory(request);
      return journal().read(request);
    },
    totals: async (request) => {
      checkTotals(request);
      const sums = new TotalSums(request);
      for (const entry of journal().all()) sums.addEntry(entry.account, entry);
      return sums.list();
    },
    statement: async (request) => {
      checkHistory(request);
      // Ends what has expired.
      await ledger.reset(request.account, []);
      const core = memory.loadNow({ account: request.account, names: [], entries: [] }).records.get(coreName);
      const account = new StoredAccount(request.account);
      if (core !== undefined) decodeCore(account, core);
      const prepaid = account.limits?.prepaid;
      const books = new StatementBooks(request, { now: clock.now(), keptFrom: undefined, prepaid });
      const { entries } = journal().read({ account: request.account, limit: Number.MAX_SAFE_INTEGER });
      for (const entry of entries) books.add(entry);
      return books.statement();
    },
    forget: async (account) => {
      checkAccount(account);
      memory.forget(account);
    },
    close: async () => {},
  };
}
