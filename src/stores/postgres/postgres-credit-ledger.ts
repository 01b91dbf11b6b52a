import { requireKnownOptions } from "../../check/known-options.js";
import { checkedRetention } from "../../ledger/calendar.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { plainLedger } from "../../ledger/plain-ledger.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "./database.js";
import { batchBounds, type PostgresBatchOptions } from "./ledger/account-queue.js";
import { PostgresLedger } from "./ledger/postgres-ledger.js";
import { Notifications } from "./notifications.js";

/** Options of {@link postgresCreditLedger}. */
export interface PostgresCreditLedgerOptions extends PostgresOptions {
  /**
   * How long entries of the journal are kept, in milliseconds; at least a day. For as long, a reservation, settlement or
   * grant is recognised as a repetition, and a top-up for 31 days at least.
   * Sums of usage are kept as long, and for 400 days at least. Default: 400 days, which is some 13 months.
   */
  retentionMs?: number | undefined;
  /**
   * How operations on credits go together in statements. `false`: only those on the same account do, in statements of its
   * own, as many at a time as the pool has connections.
   */
  batch?: PostgresBatchOptions | false | undefined;
}

/** All that there are. */
export const knownPostgresLedgerOptions: Readonly<Record<keyof PostgresCreditLedgerOptions, true>> = {
  ...knownPostgresOptions,
  retentionMs: true,
  batch: true,
};

/**
 * Keeps credits in PostgreSQL, exactly across any number of processes. Every statement is a transaction of its own that is
 * READ COMMITTED, whatever the default. Operations that come at a time, or while others are under way, go in one statement:
 * see `batch`. At most 10,000 operations of an account wait, and at most 100,000 of all; more are a LedgerUnavailableError.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function postgresCreditLedger(options: PostgresCreditLedgerOptions): CreditLedger {
  requireKnownOptions("postgresCreditLedger", options, knownPostgresLedgerOptions);
  const database = new Database(options);
  return creditLedger(database, new Notifications(database), options);
}

/** @throws RangeError when an option is not valid. */
export function creditLedger(
  database: Database,
  notifications: Notifications,
  { retentionMs, batch }: Pick<PostgresCreditLedgerOptions, "retentionMs" | "batch">,
): CreditLedger {
  const ledger = new PostgresLedger(database, checkedRetention(retentionMs), batchBounds(batch));
  return {
    ...plainLedger(ledger),
    history: (request) => ledger.history(request),
    usage: (request) => ledger.usage(request),
    totals: (request) => ledger.totals(request),
    statement: (request) => ledger.statement(request),
    ...(notifications.isEnabled && {
      subscribe: (onChange: (account: string) => void) => notifications.subscribe(ledger.channel, onChange),
    }),
  };
}
