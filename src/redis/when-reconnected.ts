import type { RedisClient } from "./redis-client.js";

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
