import { isNodeRedis, type RedisClient } from "./redis-client.js";

/** A connection of its own that listens to a channel. */
export interface Subscription {
  end(): void;
}

/**
 * Opens one. It neither connects again nor keeps the process alive.
 *
 * @param onEnd - called once if the connection is lost.
 */
export type OpenSubscription = (onMessage: (message: string) => void, onEnd: () => void) => Promise<Subscription>;

/** What is needed of an ioredis client beyond scripts. */
interface IoredisConnection {
  duplicate(options: { lazyConnect: true; retryStrategy: () => null }): IoredisConnection;
  connect(): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  on(event: "connect" | "end" | "error", listener: () => void): unknown;
  on(event: "message", listener: (channel: string, message: string) => void): unknown;
  disconnect(): void;
  readonly stream?: { unref?(): void };
}

/** What is needed of a node-redis client beyond scripts. */
interface NodeRedisConnection {
  readonly options?: { socket?: object };
  duplicate(options: { socket: object }): NodeRedisConnection;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  on(event: "error" | "terminated", listener: () => void): unknown;
  unref(): void;
  readonly isOpen: boolean;
  destroy(): void;
}

interface IoredisCluster {
  nodes(role: "master"): IoredisConnection[];
}

interface NodeRedisCluster {
  readonly masters: readonly unknown[];
  nodeClient(node: unknown): Promise<NodeRedisConnection>;
}

/** `undefined` where the client cannot open a second connection, such as a sentinel of node-redis. */
export function subscriptionOpener(client: RedisClient, channel: string): OpenSubscription | undefined {
  // The host passes the whole client of one library or the other: its type has only what every store needs.
  const { nodes, nodeClient, duplicate, unref } = client as object as Record<string, unknown>;
  if (isNodeRedis(client)) {
    if (nodeClient !== undefined) {
      return async (...listeners) =>
        openNodeRedis(await masterOf(client as object as NodeRedisCluster), channel, ...listeners);
    }
    const connection = client as object as NodeRedisConnection;
    return unref === undefined ? undefined : (...listeners) => openNodeRedis(connection, channel, ...listeners);
  }
  if (nodes !== undefined) {
    return async (...listeners) => openIoredis(nodeOf(client as object as IoredisCluster), channel, ...listeners);
  }
  const connection = client as object as IoredisConnection;
  return duplicate === undefined ? undefined : (...listeners) => openIoredis(connection, channel, ...listeners);
}

// A cluster passes a message of one node on to all of them.

function nodeOf(cluster: IoredisCluster): IoredisConnection {
  return anyOf(cluster.nodes("master"));
}

function masterOf(cluster: NodeRedisCluster): Promise<NodeRedisConnection> {
  return cluster.nodeClient(anyOf(cluster.masters));
}

function anyOf<Node>(nodes: readonly Node[]): Node {
  const node = nodes[Math.floor(Math.random() * nodes.length)];
  if (node === undefined) throw new Error("No node of the cluster is connected.");
  return node;
}

async function openIoredis(
  client: IoredisConnection,
  channel: string,
  onMessage: (message: string) => void,
  onEnd: () => void,
): Promise<Subscription> {
  const connection = client.duplicate({ lazyConnect: true, retryStrategy: () => null });
  connection.on("error", ignore);
  connection.on("connect", () => connection.stream?.unref?.());
  connection.on("message", (_channel, message) => onMessage(message));
  const subscription = { end: () => connection.disconnect() };
  try {
    await connection.connect();
    await connection.subscribe(channel);
  } catch (error) {
    subscription.end();
    throw error;
  }
  connection.on("end", onEnd);
  return subscription;
}

async function openNodeRedis(
  client: NodeRedisConnection,
  channel: string,
  onMessage: (message: string) => void,
  onEnd: () => void,
): Promise<Subscription> {
  const connection = client.duplicate({ socket: { ...client.options?.socket, reconnectStrategy: false } });
  connection.on("error", ignore);
  connection.unref();
  const subscription = { end: () => connection.destroy() };
  try {
    await connection.connect();
    await connection.subscribe(channel, onMessage);
  } catch (error) {
    if (connection.isOpen) subscription.end();
    throw error;
  }
  connection.on("terminated", onEnd);
  return subscription;
}

/** Without a listener an error event ends the process. Another event reports the end of the connection. */
function ignore(): void {}
