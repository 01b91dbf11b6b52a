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
import { auditTrailOn } from "./redis-audit-trail.js";
import { connectionOf, knownRedisOptions, type RedisOptions } from "./redis-connection.js";
import { creditLedgerOn, knownRedisLedgerOptions, type RedisCreditLedgerOptions } from "./redis-credit-ledger.js";
import { RedisRecordStore } from "./redis-record-store.js";
import { requestLogOn } from "./redis-request-log.js";
import { responseStoreOn } from "./redis-response-store.js";

/** Options of {@link redisStores}. */
export interface RedisStoresOptions extends RedisCreditLedgerOptions {
  /** How much is kept of responses. */
  responses?: ResponseLimits | undefined;
  /** How much the audit trail keeps. */
  audit?: AuditLimits | undefined;
  /** How much is kept of the log of requests. `maxRows` is 50,000 unless it is given. */
  requestLog?: RequestLogLimits | undefined;
}

/** What a gateway keeps, all of it in Redis. */
export type RedisStores = Stores;

const known: Readonly<Record<keyof RedisStoresOptions, true>> = {
  ...knownRedisLedgerOptions,
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
  readonly #accounts: WritableAccountStore;
  readonly #audit: AuditTrail;
  readonly #budgets: WritableBudgetStore;
  readonly #modelStore: ModelStore;
  readonly #requestLog: RequestLog;

  constructor(options: RedisStoresOptions) {
    const connection = connectionOf(options);
    const records = new RedisRecordStore(connection);
    this.keys = recordKeyStore("redisKeyStore", records);
    this.plans = recordPlanStore("redisPlanStore", records);
    this.ledger = creditLedgerOn(connection, options);
    this.responses = responseStoreOn(connection, options.responses);
    this.#accounts = recordAccountStore("redisAccountStore", records);
    this.#audit = auditTrailOn(connection, options.audit);
    this.#budgets = recordBudgetStore("redisBudgetStore", records);
    this.#modelStore = recordModelStore("redisModelStore", records);
    this.#requestLog = requestLogOn(connection, options.requestLog);
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
}

/**
 * The stores of a gateway in one Redis: `createGateway({ ...redisStores({ client }), … })`.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisStores(options: RedisStoresOptions): RedisStores {
  requireKnownOptions("redisStores", options, known);
  const { responses = {}, audit = {}, requestLog = {} } = options;
  requireKnownOptions("redisStores: responses", responses, knownResponseLimits);
  requireKnownOptions("redisStores: audit", audit, knownAuditLimits);
  requireKnownOptions("redisStores: requestLog", requestLog, knownLogLimits);
  return new Stores(options);
}

/** API keys in Redis. Errors and notices are those of {@link redisStores}. */
export function redisKeyStore(options: RedisOptions): WritableKeyStore {
  return recordKeyStore("redisKeyStore", recordsOf("redisKeyStore", options));
}

/** Plans in Redis. Errors and notices are those of {@link redisStores}. */
export function redisPlanStore(options: RedisOptions): WritablePlanStore {
  return recordPlanStore("redisPlanStore", recordsOf("redisPlanStore", options));
}

/** Accounts in Redis. Errors and notices are those of {@link redisStores}. */
export function redisAccountStore(options: RedisOptions): WritableAccountStore {
  return recordAccountStore("redisAccountStore", recordsOf("redisAccountStore", options));
}

/** Budgets in Redis. Errors and notices are those of {@link redisStores}. */
export function redisBudgetStore(options: RedisOptions): WritableBudgetStore {
  return recordBudgetStore("redisBudgetStore", recordsOf("redisBudgetStore", options));
}

/** Models in Redis. Errors and notices are those of {@link redisStores}. */
export function redisModelStore(options: RedisOptions): ModelStore {
  return recordModelStore("redisModelStore", recordsOf("redisModelStore", options));
}

function recordsOf(by: string, options: RedisOptions): RedisRecordStore {
  requireKnownOptions(by, options, knownRedisOptions);
  return new RedisRecordStore(connectionOf(options));
}
