import type { Clock } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { SqliteConnection } from "../../../src/stores/sqlite/sqlite-connection.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { UsageTable } from "../../../src/stores/sqlite/usage/usage-table.js";

const day = 86_400_000;

/** Adds the entries of an account to its sums, as the ledger does when there are more of them. */
export function sumUp(database: SqliteDatabase, account: string): void {
  const connection = new SqliteConnection({ database });
  const usage = new UsageTable(connection, 400 * day);
  connection.transaction(() => {
    while (!usage.sumUp(account)) {}
  });
}

/** A ledger that sums its entries up much more often than it would by itself: after every third end of a call. */
export function summingLedger(database: SqliteDatabase, clock: Clock): CreditLedger {
  const ledger = sqliteCreditLedger({ database, clock });
  const connection = new SqliteConnection({ database });
  const usage = new UsageTable(connection, 400 * day);
  let ends = 0;
  const after = async <Result>(account: string, result: Promise<Result>): Promise<Result> => {
    const resolved = await result;
    if (++ends % 3 === 0) connection.transaction(() => usage.sumUp(account));
    return resolved;
  };
  return {
    ...ledger,
    settle: (lease, settlement) => after(lease.account, ledger.settle(lease, settlement)),
    release: (lease, rates) => after(lease.account, ledger.release(lease, rates)),
  };
}
