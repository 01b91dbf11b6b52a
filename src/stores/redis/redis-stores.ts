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
import { auditTrailOn } from "./redis-audit-trail.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "./redis-connection.js";
import { creditLedgerOn, knownRedisLedgerOptions, type RedisCreditLedgerOptions } from "./redis-credit-ledger.js";
import { RedisRecordStore } from "./redis-record-store.js";
import { requestLogOn } from "./redis-request-log.js";
import { responseStoreOn } from "./redis-response-store.js";

/** Options of {@link redisStores}. */
export interface RedisStoresOptions extends RedisCreditLedgerOptions, JournalLimits {}

/** What a gateway keeps, all of it in Redis. */
export type RedisStores = DatabaseStores;

/**
 * The stores of a gateway in one Redis: `createGateway({ ...redisStores({ client }), … })`.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisStores(options: RedisStoresOptions): RedisStores {
  requireStoresOptions("redisStores", options, knownRedisLedgerOptions);
  const connection = connectionOf(options);
  return new DatabaseStores(recordsOn(connection), creditLedgerOn(connection, options), {
    responses: responseStoreOn(connection, options.responses),
    audit: auditTrailOn(connection, options.audit),
    requestLog: requestLogOn(connection, options.requestLog),
  });
}

/** API keys in Redis. Errors and notices are those of {@link redisStores}. */
export function redisKeyStore(options: RedisOptions): WritableKeyStore {
  return recordsOf("redisKeyStore", options).keys;
}

/** Plans in Redis. Errors and notices are those of {@link redisStores}. */
export function redisPlanStore(options: RedisOptions): WritablePlanStore {
  return recordsOf("redisPlanStore", options).plans;
}

/** Accounts in Redis. Errors and notices are those of {@link redisStores}. */
export function redisAccountStore(options: RedisOptions): WritableAccountStore {
  return recordsOf("redisAccountStore", options).accounts;
}

/** Budgets in Redis. Errors and notices are those of {@link redisStores}. */
export function redisBudgetStore(options: RedisOptions): WritableBudgetStore {
  return recordsOf("redisBudgetStore", options).budgets;
}

/** Models in Redis. Errors and notices are those of {@link redisStores}. */
export function redisModelStore(options: RedisOptions): ModelStore {
  return recordsOf("redisModelStore", options).modelStore;
}

function recordsOf(by: string, options: RedisOptions) {
  requireKnownOptions(by, options, knownRedisOptions);
  return recordsOn(connectionOf(options));
}

function recordsOn(connection: RedisConnection) {
  return recordStores(makerNames("redis"), new RedisRecordStore(connection));
}
