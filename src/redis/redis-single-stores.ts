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
import { connectionOf, knownRedisOptions, type RedisOptions } from "./redis-options.js";
import { RedisRecordStore } from "./redis-record-store.js";

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
