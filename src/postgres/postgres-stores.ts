import type { WritableKeyStore } from "../keys/key-store.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { WritablePlanStore } from "../plans/plan-store.js";
import { Database } from "./database.js";
import { Notifications } from "./notifications.js";
import { creditLedger, type PostgresCreditLedgerOptions } from "./postgres-credit-ledger.js";
import { keyStore } from "./postgres-key-store.js";
import { planStore } from "./postgres-plan-store.js";

/** Options of {@link postgresStores}. */
export type PostgresStoresOptions = PostgresCreditLedgerOptions;

/** All stores of a gateway, in one schema. */
export interface PostgresStores {
  keys: WritableKeyStore;
  plans: WritablePlanStore;
  ledger: CreditLedger;
  /**
   * Creates the schema or brings it up to date. The stores do it by themselves before their first statement; this is for
   * doing it earlier, or by a role that may create what the everyday role may only use. Safe at any time, in any number
   * of processes at once.
   */
  migrate(): Promise<void>;
}

/**
 * Keys, plans and credits in PostgreSQL 13 or later, in a schema of their own.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function postgresStores(options: PostgresStoresOptions): PostgresStores {
  const database = new Database(options);
  const notifications = new Notifications(database.pool);
  return {
    keys: keyStore(database, notifications),
    plans: planStore(database, notifications),
    ledger: creditLedger(database, options.retentionMs),
    migrate: () => database.migrate(),
  };
}
