import { requireKnownOptions } from "../../check/known-options.js";
import type { WritableAccountStore } from "../../records/accounts/account-store.js";
import type { WritableBudgetStore } from "../../records/budgets/budget-store.js";
import type { WritableKeyStore } from "../../records/keys/key-store.js";
import type { ModelStore } from "../../records/models/model-store.js";
import type { WritablePlanStore } from "../../records/plans/plan-store.js";
import {
  DatabaseStores,
  type JournalLimits,
  makerNames,
  recordStores,
  requireStoresOptions,
} from "../database-stores.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "./database.js";
import { Notifications } from "./notifications.js";
import { auditTrail } from "./postgres-audit-trail.js";
import {
  creditLedger,
  knownPostgresLedgerOptions,
  type PostgresCreditLedgerOptions,
} from "./postgres-credit-ledger.js";
import { PostgresRecordStore } from "./postgres-record-store.js";
import { databaseRequestLog } from "./postgres-request-log.js";
import { responseStore } from "./postgres-response-store.js";

/** Options of {@link postgresStores}. */
export interface PostgresStoresOptions extends PostgresCreditLedgerOptions, JournalLimits {}

/** All stores of a gateway, in one schema: `createGateway({ ...postgresStores({ pool }), … })`. */
export type PostgresStores = Stores;

class Stores extends DatabaseStores {
  readonly #database: Database;

  constructor(options: PostgresStoresOptions) {
    const database = new Database(options);
    const notifications = new Notifications(database);
    super(recordsOn(database, notifications), creditLedger(database, notifications, options), {
      responses: responseStore(database, options.responses),
      audit: auditTrail(database, options.audit),
      requestLog: databaseRequestLog(database, options.requestLog),
    });
    this.#database = database;
    // `const { ledger, migrate } = postgresStores(…)` is as good as a call of it.
    Object.defineProperty(this, "migrate", { value: this.migrate.bind(this), enumerable: false });
  }

  /**
   * Creates the schema or brings it up to date. The stores do it by themselves before their first statement; this is for
   * doing it earlier, or by a role that may create what the everyday role may only use. Safe at any time, in any number
   * of processes at once.
   */
  migrate(): Promise<void> {
    return this.#database.migrate();
  }
}

/**
 * Keys, plans, accounts, credits and responses in PostgreSQL 14 or later, or PGlite, in a schema of their own.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function postgresStores(options: PostgresStoresOptions): PostgresStores {
  requireStoresOptions("postgresStores", options, knownPostgresLedgerOptions);
  return new Stores(options);
}

/** API keys in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresKeyStore(options: PostgresOptions): WritableKeyStore {
  return recordsOf("postgresKeyStore", options).keys;
}

/** Plans in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresPlanStore(options: PostgresOptions): WritablePlanStore {
  return recordsOf("postgresPlanStore", options).plans;
}

/** Accounts in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresAccountStore(options: PostgresOptions): WritableAccountStore {
  return recordsOf("postgresAccountStore", options).accounts;
}

/** Budgets in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresBudgetStore(options: PostgresOptions): WritableBudgetStore {
  return recordsOf("postgresBudgetStore", options).budgets;
}

/** Models in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresModelStore(options: PostgresOptions): ModelStore {
  return recordsOf("postgresModelStore", options).modelStore;
}

function recordsOf(by: string, options: PostgresOptions) {
  requireKnownOptions(by, options, knownPostgresOptions);
  const database = new Database(options);
  return recordsOn(database, new Notifications(database));
}

function recordsOn(database: Database, notifications: Notifications) {
  return recordStores(makerNames("postgres"), new PostgresRecordStore(database, notifications));
}
