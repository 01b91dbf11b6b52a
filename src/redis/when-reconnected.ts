import type { RedisClient } from "./redis-client.js";

interface Emitter {
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/**
 * That a connection was made anew, or a node took another's place: of ioredis `ready` and the cluster's `+node` and `-node`,
 * of node-redis `ready`, the cluster's `node-ready` and the sentinel's `topology-change`.
 */
const events = ["ready", "+node", "-node", "node-ready", "topology-change"];

/** @returns what ends it. A client that is no emitter of events tells nothing. */
export function whenReconnected(client: RedisClient, listener: () => void): () => void {
  const emitter = client as object as Partial<Emitter>;
  if (typeof emitter.on !== "function" || typeof emitter.off !== "function") return () => {};
  for (const event of events) emitter.on(event, listener);
  return () => {
    for (const event of events) emitter.off?.(event, listener);
  };
}
