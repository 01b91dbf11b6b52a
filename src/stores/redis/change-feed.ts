import type { RecordKind } from "../../records/record-store.js";
import { letProcessEnd } from "../../runtime/let-process-end.js";
import { isNodeRedis, type RedisClient } from "./redis-client.js";

type Listener = (message: string) => void;

/** What changed; `account` is its credits. */
type FeedKind = RecordKind | "account";

const retryMs = 1_000;

/**
 * Notifies of changes to keys, plans, accounts and other records by any process, over one connection that is open while there are
 * listeners. A lost connection is opened again; no notice arrives of a change meanwhile.
 */
export class ChangeFeed {
  readonly channel: string;
  readonly #open: OpenSubscription | undefined;
  readonly #listeners = new Set<Listener>();
  #subscription: Promise<Subscription> | undefined;

  constructor(channel: string, open: OpenSubscription | undefined) {
    this.channel = channel;
    this.#open = open;
  }

  get canSubscribe(): boolean {
    return this.#open !== undefined;
  }

  /** Rejects when it cannot be connected now. */
  async subscribe(kind: FeedKind, onChange: (name: string) => void): Promise<() => Promise<void>> {
    const prefix = `${kind} `;
    const listener: Listener = (message) => {
      if (message.startsWith(prefix)) onChange(message.slice(prefix.length));
    };
    this.#listeners.add(listener);
    const end = async () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#close();
    };
    try {
      await this.#connect();
    } catch (error) {
      await end();
      throw error;
    }
    return end;
  }

  async #connect(): Promise<void> {
    if (this.#open === undefined) throw new Error("The client cannot subscribe.");
    this.#subscription ??= this.#open(
      (message) => this.#tell(message),
      () => this.#reopen(subscription),
    );
    const subscription = this.#subscription;
    try {
      await subscription;
    } catch (error) {
      if (this.#subscription === subscription) this.#subscription = undefined;
      throw error;
    }
  }

  #tell(message: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(message);
      } catch {
        // One listener's error must not keep the others from the notice.
      }
    }
  }

  #reopen(lost: Promise<Subscription>): void {
    if (this.#subscription !== lost) return;
    this.#subscription = undefined;
    this.#retry();
  }

  #retry(): void {
    if (this.#listeners.size === 0) return;
    const timer = setTimeout(() => {
      // They may have left meanwhile.
      if (this.#listeners.size > 0) this.#connect().catch(() => this.#retry());
    }, retryMs);
    letProcessEnd(timer);
  }

  /** Does not wait for a connection that is being opened: a server that hangs makes that last for ever. */
  #close(): void {
    // One that could not be opened need not be ended.
    this.#subscription?.then(({ end }) => end()).catch(() => {});
    this.#subscription = undefined;
  }
}

/** A connection of its own that listens to a channel. */
export interface Subscription {
  end(): void;
}

/**
 * Opens one. It neither connects again nor keeps the process alive.
 *
 * @param onEnd - called once if the connection is lost.
 */
type OpenSubscription = (onMessage: (message: string) => void, onEnd: () => void) => Promise<Subscription>;

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
