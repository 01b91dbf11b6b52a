import type { CreditLedger } from "../ledger/credit-ledger.js";
import { Database, type PostgresOptions } from "./database.js";
import { Notifications } from "./listen/notifications.js";
import { PostgresLedger } from "./postgres-ledger.js";

/** Options of {@link postgresCreditLedger}. */
export interface PostgresCreditLedgerOptions extends PostgresOptions {
  /**
   * How long entries of the journal are kept, in milliseconds; at least a day. For as long, a reservation, settlement or
   * grant is recognised as a repetition. Default: 400 days, which is some 13 months.
   */
  retentionMs?: number | undefined;
}

const day = 86_400_000;

/**
 * Keeps credits in PostgreSQL, exactly across any number of processes. Every operation is one statement, in a transaction
 * of its own that is READ COMMITTED, whatever the default. Those on one account wait for each other in this process and go
 * together, up to 64 in a statement.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function postgresCreditLedger(options: PostgresCreditLedgerOptions): CreditLedger {
  const database = new Database(options);
  return creditLedger(database, new Notifications(database), options.retentionMs);
}

/** @throws RangeError when the retention is not valid. */
export function creditLedger(database: Database, notifications: Notifications, retentionMs = 400 * day): CreditLedger {
  if (!Number.isSafeInteger(retentionMs) || retentionMs < day) {
    throw new RangeError(`retentionMs must be a whole number of at least ${day}, not ${retentionMs}.`);
  }
  const ledger = new PostgresLedger(database, retentionMs);
  // A plain object, so that a host can wrap a method or two with `{ ...ledger, settle }`.
  return {
    reserve: (request) => ledger.reserve(request),
    renew: (requests) => ledger.renew(requests),
    settle: (lease, settlement) => ledger.settle(lease, settlement),
    release: (lease) => ledger.release(lease),
    balance: (account, limits) => ledger.balance(account, limits),
    grant: (request) => ledger.grant(request),
    reset: (account, windows) => ledger.reset(account, windows),
    history: (request) => ledger.history(request),
    forget: (account) => ledger.forget(account),
    close: () => ledger.close(),
    ...(notifications.isEnabled && {
      subscribe: (onChange: (account: string) => void) => notifications.subscribe(ledger.channel, onChange),
    }),
  };
}
