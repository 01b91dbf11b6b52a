export type { RequestLogLimits } from "./books/requests/request-log-limits.js";
export type { RedisBatchOptions } from "./redis/batch/batch-options.js";
export type { RedisAuditTrailOptions } from "./redis/books/redis-audit-trail.js";
export { redisAuditTrail } from "./redis/books/redis-audit-trail.js";
export {
  fromUpstash,
  type UpstashOutcome,
  type UpstashPipeline,
  type UpstashRedis,
} from "./redis/clients/from-upstash.js";
export type { IoredisClient, NodeRedisClient, NodeRedisEvalOptions, RedisClient } from "./redis/redis-client.js";
export type { RedisCreditLedgerOptions, RedisJournalOptions } from "./redis/redis-credit-ledger.js";
export { redisCreditLedger } from "./redis/redis-credit-ledger.js";
export type { RedisOptions } from "./redis/redis-options.js";
export {
  redisAccountStore,
  redisBudgetStore,
  redisKeyStore,
  redisModelStore,
  redisPlanStore,
} from "./redis/redis-single-stores.js";
export type { RedisStores, RedisStoresOptions } from "./redis/redis-stores.js";
export { redisStores } from "./redis/redis-stores.js";
export type { RedisRequestLogOptions } from "./redis/requests/redis-request-log.js";
export { redisRequestLog } from "./redis/requests/redis-request-log.js";
export type { RedisResponseCacheOptions } from "./redis/responses/redis-response-cache.js";
export { redisResponseCache } from "./redis/responses/redis-response-cache.js";
export type { RedisResponseStoreOptions } from "./redis/responses/redis-response-store.js";
export { redisResponseStore } from "./redis/responses/redis-response-store.js";
