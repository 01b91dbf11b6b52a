import { isNodeRedis, type RedisClient } from "../redis-client.js";

/**
 * What is another one after each reconnection: of ioredis the socket, of node-redis the count of its sockets. The same
 * `undefined` for clusters and other clients, which do not show it.
 */
export function connectionMark(client: RedisClient): unknown {
  const { stream, socketEpoch } = client as { stream?: unknown; socketEpoch?: unknown };
  return isNodeRedis(client) ? socketEpoch : stream;
}
