export type { RequestLogLimits } from "./books/requests/request-log-limits.js";
export { redisAccountStore } from "./redis/accounts/redis-account-store.js";
export type { RedisBatchOptions } from "./redis/batch/batch-options.js";
export type { RedisAuditTrailOptions } from "./redis/books/redis-audit-trail.js";
export { redisAuditTrail } from "./redis/books/redis-audit-trail.js";
export { redisBudgetStore } from "./redis/budgets/redis-budget-store.js";
export {
  fromUpstash,
  type UpstashOutcome,
  type UpstashPipeline,
  type UpstashRedis,
} from "./redis/clients/from-upstash.js";
export { redisModelStore } from "./redis/models/redis-model-store.js";
export type { IoredisClient, NodeRedisClient, NodeRedisEvalOptions, RedisClient } from "./redis/redis-client.js";
export type { RedisCreditLedgerOptions, RedisJournalOptions } from "./redis/redis-credit-ledger.js";
export { redisCreditLedger } from "./redis/redis-credit-ledger.js";
export { redisKeyStore } from "./redis/redis-key-store.js";
export type { RedisOptions } from "./redis/redis-options.js";
export { redisPlanStore } from "./redis/redis-plan-store.js";
export type { RedisStores, RedisStoresOptions } from "./redis/redis-stores.js";
export { redisStores } from "./redis/redis-stores.js";
export type { RedisRequestLogOptions } from "./redis/requests/redis-request-log.js";
export { redisRequestLog } from "./redis/requests/redis-request-log.js";
export type { RedisResponseCacheOptions } from "./redis/responses/redis-response-cache.js";
export { redisResponseCache } from "./redis/responses/redis-response-cache.js";
export type { RedisResponseStoreOptions } from "./redis/responses/redis-response-store.js";
export { redisResponseStore } from "./redis/responses/redis-response-store.js";
