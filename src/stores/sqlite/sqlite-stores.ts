import { type AuditLimits, type AuditTrail, checkAuditLimits, knownAuditLimits } from "../../audit/audit-trail.js";
import { requireKnownOptions } from "../../check/known-options.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import type { WritableAccountStore } from "../../records/accounts/account-store.js";
import { recordAccountStore } from "../../records/accounts/record-account-store.js";
import type { WritableBudgetStore } from "../../records/budgets/budget-store.js";
import { recordBudgetStore } from "../../records/budgets/record-budget-store.js";
import type { WritableKeyStore } from "../../records/keys/key-store.js";
import { recordKeyStore } from "../../records/keys/record-key-store.js";
import type { ModelStore } from "../../records/models/model-store.js";
import { recordModelStore } from "../../records/models/record-model-store.js";
import type { WritablePlanStore } from "../../records/plans/plan-store.js";
import { recordPlanStore } from "../../records/plans/record-plan-store.js";
import { knownLogLimits, type RequestLog, type RequestLogLimits } from "../../request-log/request-log.js";
import { knownResponseLimits, type ResponseLimits, type ResponseStore } from "../../responses/response-store.js";
import { auditTrailOf } from "./sqlite-audit-trail.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";
import { knownSqliteLedgerOptions, ledgerOf, type SqliteCreditLedgerOptions } from "./sqlite-credit-ledger.js";
import { SqliteRecordStore } from "./sqlite-record-store.js";
import { requestLogOf } from "./sqlite-request-log.js";
import { responseStoreOf } from "./sqlite-response-store.js";

/** Options of {@link sqliteStores}. */
export interface SqliteStoresOptions extends SqliteCreditLedgerOptions {
  /** How much is kept of responses. */
  responses?: ResponseLimits | undefined;
  /** How much the audit trail keeps. */
  audit?: AuditLimits | undefined;
  /** How much is kept of the log of requests. `maxRows` is 1,000,000 unless it is given. */
  requestLog?: RequestLogLimits | undefined;
}

/** All that a gateway keeps: `createGateway({ ...sqliteStores({ database }), … })`. */
export type SqliteStores = Stores;

const known: Readonly<Record<keyof SqliteStoresOptions, true>> = {
  ...knownSqliteLedgerOptions,
  responses: true,
  audit: true,
  requestLog: true,
};

/** A class, so that `accounts` is not spread, here and in the eyes of TypeScript. */
class Stores {
  keys: WritableKeyStore;
  plans: WritablePlanStore;
  ledger: CreditLedger;
  responses: ResponseStore;
  readonly #connection: SqliteConnection;
  readonly #options: SqliteStoresOptions;
  readonly #accounts: WritableAccountStore;
  #audit: AuditTrail | undefined;
  readonly #budgets: WritableBudgetStore;
  readonly #modelStore: ModelStore;
  #requestLog: RequestLog | undefined;

  constructor(options: SqliteStoresOptions) {
    const connection = new SqliteConnection(options);
    const records = new SqliteRecordStore(connection);
    this.#connection = connection;
    this.#options = options;
    checkAuditLimits(options.audit);
    this.keys = recordKeyStore("sqliteKeyStore", records);
    this.plans = recordPlanStore("sqlitePlanStore", records);
    this.ledger = ledgerOf(connection, options);
    this.responses = responseStoreOf(connection, options.responses, options.clock);
    this.#accounts = recordAccountStore("sqliteAccountStore", records);
    this.#budgets = recordBudgetStore("sqliteBudgetStore", records);
    this.#modelStore = recordModelStore("sqliteModelStore", records);
  }

  /**
   * Plans, anchors and suspensions by account. It is not among what is spread: a gateway whose plans stand on its keys
   * goes on without it. Give it by name: `createGateway({ ...stores, accounts: stores.accounts, … })`.
   */
  get accounts(): WritableAccountStore {
    return this.#accounts;
  }

  /** What the management API has changed. It is given by name, too: `createGateway({ ...stores, audit: stores.audit, … })`. */
  get audit(): AuditTrail {
    this.#audit ??= auditTrailOf(this.#connection, this.#options.audit, this.#options.clock);
    return this.#audit;
  }

  /** Budgets on tags, by account. Not spread, either: `createGateway({ ...stores, budgets: stores.budgets, … })`. */
  get budgets(): WritableBudgetStore {
    return this.#budgets;
  }

  /** Models that change while processes run. Not spread, either: `createGateway({ ...stores, modelStore: stores.modelStore, … })`. */
  get modelStore(): ModelStore {
    return this.#modelStore;
  }

  /** A line for each request. Not spread, either: `createGateway({ ...stores, requestLog: stores.requestLog, … })`. */
  get requestLog(): RequestLog {
    this.#requestLog ??= requestLogOf(this.#connection, this.#options.requestLog, this.#options.clock);
    return this.#requestLog;
  }
}

/**
 * Keys, plans, accounts, credits and responses in one SQLite database.
 *
 * @throws RangeError when `retentionMs`, `durability` or a limit is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteStores(options: SqliteStoresOptions): SqliteStores {
  requireKnownOptions("sqliteStores", options, known);
  const { responses = {}, audit = {}, requestLog = {} } = options;
  requireKnownOptions("sqliteStores: responses", responses, knownResponseLimits);
  requireKnownOptions("sqliteStores: audit", audit, knownAuditLimits);
  requireKnownOptions("sqliteStores: requestLog", requestLog, knownLogLimits);
  return new Stores(options);
}

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
