import { type AuditLimits, type AuditTrail, knownAuditLimits } from "../audit/audit-trail.js";
import { requireKnownOptions } from "../check/known-options.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { WritableAccountStore } from "../records/accounts/account-store.js";
import { recordAccountStore } from "../records/accounts/record-account-store.js";
import type { WritableBudgetStore } from "../records/budgets/budget-store.js";
import { recordBudgetStore } from "../records/budgets/record-budget-store.js";
import type { WritableKeyStore } from "../records/keys/key-store.js";
import { recordKeyStore } from "../records/keys/record-key-store.js";
import type { ModelStore } from "../records/models/model-store.js";
import { recordModelStore } from "../records/models/record-model-store.js";
import type { WritablePlanStore } from "../records/plans/plan-store.js";
import { recordPlanStore } from "../records/plans/record-plan-store.js";
import type { RecordStore } from "../records/record-store.js";
import { knownLogLimits, type RequestLog, type RequestLogLimits } from "../request-log/request-log.js";
import { knownResponseLimits, type ResponseLimits, type ResponseStore } from "../responses/response-store.js";

/** The stores that keep records. */
interface RecordStores {
  readonly keys: WritableKeyStore;
  readonly plans: WritablePlanStore;
  readonly accounts: WritableAccountStore;
  readonly budgets: WritableBudgetStore;
  readonly modelStore: ModelStore;
}

/** What each store is called in its errors. */
type StoreNames = Readonly<Record<keyof RecordStores, string>>;

/** The names of the functions that make one store each, such as `redisKeyStore`. */
export function makerNames(database: string): StoreNames {
  return {
    keys: `${database}KeyStore`,
    plans: `${database}PlanStore`,
    accounts: `${database}AccountStore`,
    budgets: `${database}BudgetStore`,
    modelStore: `${database}ModelStore`,
  };
}

export function recordStores(names: StoreNames, records: RecordStore): RecordStores {
  return {
    keys: recordKeyStore(names.keys, records),
    plans: recordPlanStore(names.plans, records),
    accounts: recordAccountStore(names.accounts, records),
    budgets: recordBudgetStore(names.budgets, records),
    modelStore: recordModelStore(names.modelStore, records),
  };
}

/** Records and credits in one database. A class, so that what is spread is the stores alone, here and in the eyes of TypeScript. */
export class RecordAndLedgerStores {
  /** API keys, by their hashes. */
  keys: WritableKeyStore;
  /** Plans, by their ids. */
  plans: WritablePlanStore;
  /** Credits, exact over any number of processes. */
  ledger: CreditLedger;
  readonly #records: RecordStores;

  constructor(records: RecordStores, ledger: CreditLedger) {
    this.#records = records;
    this.keys = records.keys;
    this.plans = records.plans;
    this.ledger = ledger;
  }

  /**
   * Plans, anchors and suspensions by account. It is not among what is spread: a gateway whose plans stand on its keys
   * goes on without it. Give it by name: `createGateway({ ...stores, accounts: stores.accounts, … })`.
   */
  get accounts(): WritableAccountStore {
    return this.#records.accounts;
  }

  /** Budgets on tags, by account. Not spread, either: `createGateway({ ...stores, budgets: stores.budgets, … })`. */
  get budgets(): WritableBudgetStore {
    return this.#records.budgets;
  }

  /** Models that change while processes run. Not spread, either: `createGateway({ ...stores, modelStore: stores.modelStore, … })`. */
  get modelStore(): ModelStore {
    return this.#records.modelStore;
  }
}

/** What is kept of requests and changes. */
interface Journals {
  readonly responses: ResponseStore;
  readonly audit: AuditTrail;
  readonly requestLog: RequestLog;
}

/** All that a gateway keeps, in one database. */
export class DatabaseStores extends RecordAndLedgerStores {
  /** Responses that clients may ask for again. */
  responses: ResponseStore;
  readonly #journals: Journals;

  constructor(records: RecordStores, ledger: CreditLedger, journals: Journals) {
    super(records, ledger);
    this.#journals = journals;
    this.responses = journals.responses;
  }

  /** What the management API has changed. It is given by name, too: `createGateway({ ...stores, audit: stores.audit, … })`. */
  get audit(): AuditTrail {
    return this.#journals.audit;
  }

  /** A line for each request. Not spread, either: `createGateway({ ...stores, requestLog: stores.requestLog, … })`. */
  get requestLog(): RequestLog {
    return this.#journals.requestLog;
  }
}

/** How much is kept of what grows with each request or change. */
export interface JournalLimits {
  /** How much is kept of responses. */
  responses?: ResponseLimits | undefined;
  /** How much the audit trail keeps. */
  audit?: AuditLimits | undefined;
  /** How much is kept of the log of requests. `maxRows` is 1,000,000 unless it is given; on Redis, 50,000. */
  requestLog?: RequestLogLimits | undefined;
}

/** @throws TypeError for what is no option. @param known - those besides the limits. */
export function requireStoresOptions(by: string, options: JournalLimits, known: Readonly<Record<string, true>>): void {
  requireKnownOptions(by, options, { ...known, responses: true, audit: true, requestLog: true });
  const { responses = {}, audit = {}, requestLog = {} } = options;
  requireKnownOptions(`${by}: responses`, responses, knownResponseLimits);
  requireKnownOptions(`${by}: audit`, audit, knownAuditLimits);
  requireKnownOptions(`${by}: requestLog`, requestLog, knownLogLimits);
}
