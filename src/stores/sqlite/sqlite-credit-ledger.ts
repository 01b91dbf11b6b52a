import { requireKnownOptions } from "../../check/known-options.js";
import { type Clock, checkedRetention, systemClock } from "../../ledger/calendar.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { plainLedger } from "../../ledger/plain-ledger.js";
import { SqliteLedger } from "./ledger/sqlite-ledger.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";

/** Options of {@link sqliteCreditLedger}. */
export interface SqliteCreditLedgerOptions extends SqliteOptions {
  /** Default: the process's clock. The clocks of all processes that share the database must agree. */
  clock?: Clock | undefined;
  /**
   * How long entries of the journal are kept, in milliseconds; at least a day. For as long, a settlement or grant is
   * recognised as a repetition. Top-ups are kept for 31 days at least. Default: 400 days, which is some 13 months.
   */
  retentionMs?: number | undefined;
}

/** All that there are. */
export const knownSqliteLedgerOptions: Readonly<Record<keyof SqliteCreditLedgerOptions, true>> = {
  ...knownSqliteOptions,
  clock: true,
  retentionMs: true,
};

/**
 * Keeps credits in a SQLite database: exact also when several processes of one machine share it, and across their ends.
 *
 * Operations that are asked for in one turn of the event loop are one transaction: a commit costs more than an operation does.
 * What the ledger refuses fails alone. Where another process has locked the database, they wait for up to five seconds, while
 * this process does its other work. There are no other
 * timers: later operations and sweeps end what has expired, and later operations delete what is too old.
 *
 * @throws RangeError when `retentionMs` or `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteCreditLedger(options: SqliteCreditLedgerOptions): CreditLedger {
  requireKnownOptions("sqliteCreditLedger", options, knownSqliteLedgerOptions);
  return ledgerOf(new SqliteConnection(options), options);
}

export function ledgerOf(connection: SqliteConnection, options: SqliteCreditLedgerOptions): CreditLedger {
  const { clock = systemClock, retentionMs } = options;
  const ledger = new SqliteLedger(connection, clock, checkedRetention(retentionMs));
  return {
    ...plainLedger(ledger),
    history: (request) => ledger.history(request),
    usage: (request) => ledger.usage(request),
    totals: (request) => ledger.totals(request),
    statement: (request) => ledger.statement(request),
  };
}
