import { type AuditTrail, checkAuditLimits } from "../../audit/audit-trail.js";
import { requireKnownOptions } from "../../check/known-options.js";
import type { WritableAccountStore } from "../../records/accounts/account-store.js";
import type { WritableBudgetStore } from "../../records/budgets/budget-store.js";
import type { WritableKeyStore } from "../../records/keys/key-store.js";
import type { ModelStore } from "../../records/models/model-store.js";
import type { WritablePlanStore } from "../../records/plans/plan-store.js";
import type { RequestLog } from "../../request-log/request-log.js";
import {
  DatabaseStores,
  type JournalLimits,
  makerNames,
  recordStores,
  requireStoresOptions,
} from "../database-stores.js";
import { auditTrailOf } from "./sqlite-audit-trail.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";
import { knownSqliteLedgerOptions, ledgerOf, type SqliteCreditLedgerOptions } from "./sqlite-credit-ledger.js";
import { SqliteRecordStore } from "./sqlite-record-store.js";
import { requestLogOf } from "./sqlite-request-log.js";
import { responseStoreOf } from "./sqlite-response-store.js";

/** Options of {@link sqliteStores}. */
export interface SqliteStoresOptions extends SqliteCreditLedgerOptions, JournalLimits {}

/** All that a gateway keeps: `createGateway({ ...sqliteStores({ database }), … })`. */
export type SqliteStores = DatabaseStores;

/**
 * Keys, plans, accounts, credits and responses in one SQLite database.
 *
 * @throws RangeError when `retentionMs`, `durability` or a limit is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteStores(options: SqliteStoresOptions): SqliteStores {
  requireStoresOptions("sqliteStores", options, knownSqliteLedgerOptions);
  const connection = new SqliteConnection(options);
  checkAuditLimits(options.audit);
  let audit: AuditTrail | undefined;
  let requestLog: RequestLog | undefined;
  return new DatabaseStores(recordsOn(connection), ledgerOf(connection, options), {
    responses: responseStoreOf(connection, options.responses, options.clock),
    // Both prepare their statements when they are made, and few gateways have them.
    get audit() {
      audit ??= auditTrailOf(connection, options.audit, options.clock);
      return audit;
    },
    get requestLog() {
      requestLog ??= requestLogOf(connection, options.requestLog, options.clock);
      return requestLog;
    },
  });
}

/** API keys in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqliteKeyStore(options: SqliteOptions): WritableKeyStore {
  return recordsOf("sqliteKeyStore", options).keys;
}

/** Plans in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqlitePlanStore(options: SqliteOptions): WritablePlanStore {
  return recordsOf("sqlitePlanStore", options).plans;
}

/** Accounts in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqliteAccountStore(options: SqliteOptions): WritableAccountStore {
  return recordsOf("sqliteAccountStore", options).accounts;
}

/** Budgets in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqliteBudgetStore(options: SqliteOptions): WritableBudgetStore {
  return recordsOf("sqliteBudgetStore", options).budgets;
}

/** Models in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqliteModelStore(options: SqliteOptions): ModelStore {
  return recordsOf("sqliteModelStore", options).modelStore;
}

function recordsOf(by: string, options: SqliteOptions) {
  requireKnownOptions(by, options, knownSqliteOptions);
  return recordsOn(new SqliteConnection(options));
}

function recordsOn(connection: SqliteConnection) {
  return recordStores(makerNames("sqlite"), new SqliteRecordStore(connection));
}
