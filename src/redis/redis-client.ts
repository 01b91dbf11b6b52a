/** What the stores use of ioredis 5 or later: a `Redis` or a `Cluster`. */
export interface IoredisClient {
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What the stores use of node-redis 5 or later: a client, a cluster or a sentinel, connected. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: NodeRedisEvalOptions): Promise<unknown>;
  eval(script: string, options: NodeRedisEvalOptions): Promise<unknown>;
}

export interface NodeRedisEvalOptions {
  keys: string[];
  arguments: string[];
}

/**
 * The host's own client of Redis 6 or later, or of Valkey. It is used as it is and never closed: how it connects,
 * authenticates and retries is the host's choice. One of `@upstash/redis` is made into one by `fromUpstash`.
 */
export type RedisClient = IoredisClient | NodeRedisClient;

/** Whether scripts may only take keys of one hash slot, as far as the client shows it. */
export function isCluster(client: RedisClient): boolean {
  return ("isCluster" in client && client.isCluster === true) || (isNodeRedis(client) && "slots" in client);
}

export function isNodeRedis(client: RedisClient): client is NodeRedisClient {
  return "evalSha" in client && typeof client.evalSha === "function";
}
