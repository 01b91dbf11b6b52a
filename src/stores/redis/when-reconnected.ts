import { isCluster, isNodeRedis, type RedisClient } from "./redis-client.js";

interface Emitter {
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/**
 * The events of a new connection, or of a node that took another's place: of ioredis `ready` and the cluster's `+node`
 * and `-node`, of node-redis `ready`, the cluster's `node-ready` and the sentinel's `topology-change`.
 */
const events = ["ready", "+node", "-node", "node-ready", "topology-change"];

/** @returns ends the subscription. A client that emits no events has none. */
export function whenReconnected(client: RedisClient, listener: () => void): () => void {
  const emitter = client as object as Partial<Emitter>;
  if (typeof emitter.on !== "function" || typeof emitter.off !== "function") return () => {};
  for (const event of events) emitter.on(event, listener);
  return () => {
    for (const event of events) emitter.off?.(event, listener);
  };
}

/** What is needed of an ioredis client that is no cluster. */
interface ReconnectingIoredis {
  readonly options: { readonly reconnectOnError?: unknown };
  readonly status: string;
  disconnect(reconnect: true): void;
}

/** What is needed of a node-redis client that is neither a cluster nor a sentinel. */
interface ReconnectingNodeRedis {
  sendCommand(args: readonly string[]): Promise<unknown>;
}

/** The client may lead to a replica for good: it connects no more often than this, in milliseconds. */
const leastMs = 5_000;

/**
 * Gives the client a new connection when its server writes no more, since another one has taken its place: a connection
 * stays where it is, and every operation would fail for ever. The name or address of the server leads to the other one by
 * then.
 *
 * - ioredis connects again as its own `reconnectOnError` does it, and repeats what had no reply by then. Where the host has
 *   set that option, it is the host's matter.
 * - The server closes a connection of node-redis on `QUIT`, after all commands before it were answered. The client takes
 *   that for a lost connection, and opens another one.
 * - Clusters, and sentinels of node-redis, see to it by themselves.
 *
 * @param now - in milliseconds, from any beginning.
 * @returns what is told of each error.
 */
export function replicaLeaver(client: RedisClient, now: () => number): (error: unknown) => void {
  const reconnect = reconnectionOf(client);
  if (reconnect === undefined) return () => {};
  let nextAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    // Some versions have other words before it, where a script has failed.
    const isReadonly = error instanceof Error && error.message.includes("READONLY");
    if (!isReadonly || now() < nextAt) return;
    nextAt = now() + leastMs;
    reconnect();
  };
}

function reconnectionOf(client: RedisClient): (() => void) | undefined {
  if (isNodeRedis(client)) {
    const { sendCommand } = client as object as Partial<ReconnectingNodeRedis>;
    if (!("socketEpoch" in client) || typeof sendCommand !== "function") return undefined;
    return () => void sendCommand.call(client, ["QUIT"]).catch(() => {});
  }
  const { options, disconnect } = client as object as Partial<ReconnectingIoredis>;
  if (isCluster(client) || typeof disconnect !== "function" || !options || options.reconnectOnError) return undefined;
  return () => {
    if ((client as object as ReconnectingIoredis).status === "ready") disconnect.call(client, true);
  };
}

/**
 * What is another one after each reconnection: of ioredis the socket, of node-redis the count of its sockets. The same
 * `undefined` for clusters and other clients, which do not show it.
 */
export function connectionMark(client: RedisClient): unknown {
  const { stream, socketEpoch } = client as { stream?: unknown; socketEpoch?: unknown };
  return isNodeRedis(client) ? socketEpoch : stream;
}
