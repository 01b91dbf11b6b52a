export type { IoredisClient, NodeRedisClient, NodeRedisEvalOptions, RedisClient } from "./redis/redis-client.js";
export type { RedisCreditLedgerOptions, RedisJournalOptions } from "./redis/redis-credit-ledger.js";
export { redisCreditLedger } from "./redis/redis-credit-ledger.js";
export { redisKeyStore } from "./redis/redis-key-store.js";
export type { RedisOptions } from "./redis/redis-options.js";
export { redisPlanStore } from "./redis/redis-plan-store.js";
export type { RedisStores } from "./redis/redis-stores.js";
export { redisStores } from "./redis/redis-stores.js";
