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
import { Database, knownPostgresOptions, type PostgresOptions } from "./database.js";
import { Notifications } from "./listen/notifications.js";
import { PostgresRecordStore } from "./postgres-record-store.js";

/** API keys in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresKeyStore(options: PostgresOptions): WritableKeyStore {
  return recordKeyStore("postgresKeyStore", recordsOf("postgresKeyStore", options));
}

/** Plans in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresPlanStore(options: PostgresOptions): WritablePlanStore {
  return recordPlanStore("postgresPlanStore", recordsOf("postgresPlanStore", options));
}

/** Accounts in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresAccountStore(options: PostgresOptions): WritableAccountStore {
  return recordAccountStore("postgresAccountStore", recordsOf("postgresAccountStore", options));
}

/** Budgets in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresBudgetStore(options: PostgresOptions): WritableBudgetStore {
  return recordBudgetStore("postgresBudgetStore", recordsOf("postgresBudgetStore", options));
}

/** Models in PostgreSQL. Errors and notices are those of {@link postgresStores}. */
export function postgresModelStore(options: PostgresOptions): ModelStore {
  return recordModelStore("postgresModelStore", recordsOf("postgresModelStore", options));
}

function recordsOf(by: string, options: PostgresOptions): PostgresRecordStore {
  requireKnownOptions(by, options, knownPostgresOptions);
  const database = new Database(options);
  return new PostgresRecordStore(database, new Notifications(database));
}
