import type { WritableAccountStore } from "../accounts/account-store.js";
import { recordAccountStore } from "../accounts/record-account-store.js";
import { checkAuditLimits } from "../books/audit/audit-limits.js";
import { type AuditLimits, type AuditTrail, knownAuditLimits } from "../books/audit/audit-trail.js";
import type { RequestLog } from "../books/requests/request-log.js";
import { knownLogLimits, type RequestLogLimits } from "../books/requests/request-log-limits.js";
import type { WritableBudgetStore } from "../budgets/budget-store.js";
import { recordBudgetStore } from "../budgets/record-budget-store.js";
import { requireKnownOptions } from "../check/known-options.js";
import type { WritableKeyStore } from "../keys/key-store.js";
import { recordKeyStore } from "../keys/record-key-store.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { ModelStore } from "../models/model-store.js";
import { recordModelStore } from "../models/record-model-store.js";
import type { WritablePlanStore } from "../plans/plan-store.js";
import { recordPlanStore } from "../plans/record-plan-store.js";
import { knownResponseLimits, type ResponseLimits } from "../responses/response-limits.js";
import type { ResponseStore } from "../responses/response-store.js";
import { auditTrailOf } from "./books/sqlite-audit-trail.js";
import { requestLogOf } from "./requests/sqlite-request-log.js";
import { responseStoreOf } from "./responses/sqlite-response-store.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { knownSqliteLedgerOptions, ledgerOf, type SqliteCreditLedgerOptions } from "./sqlite-credit-ledger.js";
import { SqliteRecordStore } from "./sqlite-record-store.js";

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
