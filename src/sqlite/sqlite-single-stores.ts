import type { WritableAccountStore } from "../accounts/account-store.js";
import { recordAccountStore } from "../accounts/record-account-store.js";
import type { WritableBudgetStore } from "../budgets/budget-store.js";
import { recordBudgetStore } from "../budgets/record-budget-store.js";
import { requireKnownOptions } from "../check/known-options.js";
import type { WritableKeyStore } from "../keys/key-store.js";
import { recordKeyStore } from "../keys/record-key-store.js";
import type { ModelStore } from "../models/model-store.js";
import { recordModelStore } from "../models/record-model-store.js";
import type { WritablePlanStore } from "../plans/plan-store.js";
import { recordPlanStore } from "../plans/record-plan-store.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";
import { SqliteRecordStore } from "./sqlite-record-store.js";

/** API keys in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqliteKeyStore(options: SqliteOptions): WritableKeyStore {
  return recordKeyStore("sqliteKeyStore", recordsOf("sqliteKeyStore", options));
}

/** Plans in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqlitePlanStore(options: SqliteOptions): WritablePlanStore {
  return recordPlanStore("sqlitePlanStore", recordsOf("sqlitePlanStore", options));
}

/** Accounts in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqliteAccountStore(options: SqliteOptions): WritableAccountStore {
  return recordAccountStore("sqliteAccountStore", recordsOf("sqliteAccountStore", options));
}

/** Budgets in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqliteBudgetStore(options: SqliteOptions): WritableBudgetStore {
  return recordBudgetStore("sqliteBudgetStore", recordsOf("sqliteBudgetStore", options));
}

/** Models in a SQLite database. Errors and notices are those of {@link sqliteStores}. */
export function sqliteModelStore(options: SqliteOptions): ModelStore {
  return recordModelStore("sqliteModelStore", recordsOf("sqliteModelStore", options));
}

function recordsOf(by: string, options: SqliteOptions): SqliteRecordStore {
  requireKnownOptions(by, options, knownSqliteOptions);
  return new SqliteRecordStore(new SqliteConnection(options));
}
