import { type AuditLimits, type AuditTrail, knownAuditLimits } from "../../audit/audit-trail.js";
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
export interface PostgresStoresOptions extends PostgresCreditLedgerOptions {
  /** How much is kept of responses. */
  responses?: ResponseLimits | undefined;
  /** How much the audit trail keeps. */
  audit?: AuditLimits | undefined;
  /** How much is kept of the log of requests. `maxRows` is 1,000,000 unless it is given. */
  requestLog?: RequestLogLimits | undefined;
}

/** All stores of a gateway, in one schema: `createGateway({ ...postgresStores({ pool }), … })`. */
export type PostgresStores = Stores;

const known: Readonly<Record<keyof PostgresStoresOptions, true>> = {
  ...knownPostgresLedgerOptions,
  responses: true,
  audit: true,
  requestLog: true,
};

/** A class, so that what is spread is the stores alone, here and in the eyes of TypeScript. */
class Stores {
  keys: WritableKeyStore;
  plans: WritablePlanStore;
  ledger: CreditLedger;
  responses: ResponseStore;
  readonly #database: Database;
  readonly #accounts: WritableAccountStore;
  readonly #audit: AuditTrail;
  readonly #budgets: WritableBudgetStore;
  readonly #modelStore: ModelStore;
  readonly #requestLog: RequestLog;

  constructor(options: PostgresStoresOptions) {
    this.#database = new Database(options);
    const notifications = new Notifications(this.#database);
    const records = new PostgresRecordStore(this.#database, notifications);
    this.keys = recordKeyStore("postgresKeyStore", records);
    this.plans = recordPlanStore("postgresPlanStore", records);
    this.ledger = creditLedger(this.#database, notifications, options);
    this.responses = responseStore(this.#database, options.responses);
    this.#accounts = recordAccountStore("postgresAccountStore", records);
    this.#audit = auditTrail(this.#database, options.audit);
    this.#budgets = recordBudgetStore("postgresBudgetStore", records);
    this.#modelStore = recordModelStore("postgresModelStore", records);
    // `const { ledger, migrate } = postgresStores(…)` is as good as a call of it.
    Object.defineProperty(this, "migrate", { value: this.migrate.bind(this), enumerable: false });
    this.#requestLog = databaseRequestLog(this.#database, options.requestLog);
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
    return this.#requestLog;
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
  requireKnownOptions("postgresStores", options, known);
  const { responses = {}, audit = {}, requestLog = {} } = options;
  requireKnownOptions("postgresStores: responses", responses, knownResponseLimits);
  requireKnownOptions("postgresStores: audit", audit, knownAuditLimits);
  requireKnownOptions("postgresStores: requestLog", requestLog, knownLogLimits);
  return new Stores(options);
}

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
