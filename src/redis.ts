export type { RequestLogLimits } from "./request-log/request-log.js";
export type { RedisBatchOptions } from "./stores/redis/ledger/operation-queue.js";
export type { RedisAuditTrailOptions } from "./stores/redis/redis-audit-trail.js";
export { redisAuditTrail } from "./stores/redis/redis-audit-trail.js";
export type { IoredisClient, NodeRedisClient, NodeRedisEvalOptions, RedisClient } from "./stores/redis/redis-client.js";
export {
  fromUpstash,
  type UpstashOutcome,
  type UpstashPipeline,
  type UpstashRedis,
} from "./stores/redis/redis-client.js";
export type { RedisOptions } from "./stores/redis/redis-connection.js";
export type { RedisCreditLedgerOptions, RedisJournalOptions } from "./stores/redis/redis-credit-ledger.js";
export { redisCreditLedger } from "./stores/redis/redis-credit-ledger.js";
export type { RedisRequestLogOptions } from "./stores/redis/redis-request-log.js";
export { redisRequestLog } from "./stores/redis/redis-request-log.js";
export type { RedisResponseCacheOptions } from "./stores/redis/redis-response-cache.js";
export { redisResponseCache } from "./stores/redis/redis-response-cache.js";
export type { RedisResponseStoreOptions } from "./stores/redis/redis-response-store.js";
export { redisResponseStore } from "./stores/redis/redis-response-store.js";
export type { RedisStores, RedisStoresOptions } from "./stores/redis/redis-stores.js";
export {
  redisAccountStore,
  redisBudgetStore,
  redisKeyStore,
  redisModelStore,
  redisPlanStore,
  redisStores,
} from "./stores/redis/redis-stores.js";
