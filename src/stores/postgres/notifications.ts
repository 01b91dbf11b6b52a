import { letProcessEnd } from "../../runtime/let-process-end.js";
import type { Database } from "./database.js";
import type { ListenPool, PostgresClient, PostgresPool } from "./postgres-pool.js";

type Listener = (payload: string) => void;

const firstPauseMs = 100;
const longestPauseMs = 30_000;
/** Often enough that no gateway in between thinks the connection idle, and a dead one is found. */
const heartbeatMs = 30_000;

/**
 * Listens to any number of channels on one connection, which is opened with the first subscription, closed with the last,
 * and opened again when it breaks. It never keeps the process alive.
 */
export class Notifications {
  readonly #pool: PostgresPool;
  readonly #probe: string;
  /** Whether the stores offer subscriptions. */
  readonly isEnabled: boolean;
  readonly #channels = new Map<string, Set<Listener>>();
  #client: PostgresClient | undefined;
  /** Ends when the connection is free for the next query. */
  #turn: Promise<unknown> = Promise.resolve();
  #connecting: Promise<void> | undefined;
  /** Resolves when a notice has come through the pool, where the driver listens without `connect`. */
  #verified: Promise<void> | undefined;
  /** How many queries of this connection have no result yet. While there are some, it keeps the process alive. */
  #pendingQueries = 0;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ pool, schema, listens }: Database) {
    this.#pool = pool;
    this.#probe = `${schema}_probe`;
    this.isEnabled = listens;
  }

  /**
   * Resolves when it listens. After that, no notice arrives while the connection is lost.
   * @returns ends the subscription.
   * @throws NoChangeFeedError when it will never listen as things are; what the driver throws when it cannot connect.
   */
  async subscribe(channel: string, onPayload: Listener): Promise<() => Promise<void>> {
    // A function of its own, so that the same one can subscribe twice.
    const listener: Listener = (payload) => {
      try {
        onPayload(payload);
      } catch {
        // One listener's error must reach neither the driver nor the other subscribers.
      }
    };
    const pool = this.#pool;
    // Called as a method: the pool may be a database in this process.
    const listen: ListenPool | false | undefined = pool.listen && ((...given) => (pool.listen as ListenPool)(...given));
    if (listen) {
      await this.#requireNotifications(listen);
      return listen(channel, listener);
    }
    return this.#listenOnClient(channel, listener);
  }

  /** Once for all channels. */
  #requireNotifications(listen: ListenPool): Promise<void> {
    this.#verified ??= requireNotifications(this.#pool, listen, this.#probe).catch((error: unknown) => {
      this.#verified = undefined;
      throw error;
    });
    return this.#verified;
  }

  async #listenOnClient(channel: string, listener: Listener): Promise<() => Promise<void>> {
    const end = this.#add(channel, listener);
    try {
      if (this.#client === undefined || this.#connecting !== undefined) await this.#connect();
    } catch (error) {
      await end();
      throw error;
    }
    // The channel may have come while the others were listened to. Then this repeats its LISTEN.
    if (this.#client !== undefined) await this.#listen(this.#client, channel);
    return end;
  }

  /** @returns what takes it away again, and with the last one the connection. */
  #add(channel: string, listener: Listener): () => Promise<void> {
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners.add(listener));
    return async () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#channels.get(channel) === listeners) this.#channels.delete(channel);
      // While it connects, another one may come before it has.
      if (this.#channels.size === 0 && this.#connecting === undefined) this.#stop();
    };
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#connectNow();
    return this.#connecting;
  }

  async #connectNow(): Promise<void> {
    try {
      const client = await this.#open();
      this.#failures = 0;
      if (this.#channels.size === 0) this.#stop();
      else this.#beat(client);
    } catch (error) {
      this.#drop();
      this.#retry();
      throw error;
    } finally {
      // In the same step: who comes from now on finds a connection that stays, or opens another one.
      this.#connecting = undefined;
    }
  }

  async #open(): Promise<PostgresClient> {
    clearTimeout(this.#timer);
    const client = await openListener(this.#pool);
    this.#client = client;
    this.#turn = Promise.resolve();
    this.#after(heartbeatMs, () => this.#lose(client));
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    client.on("notification", ({ channel, payload }) => {
      for (const listener of [...(this.#channels.get(channel) ?? [])]) listener(payload ?? "");
    });
    await requireNotifications(
      this.#pool,
      (channel, onPayload) => this.#listenTo(client, channel, onPayload),
      this.#probe,
    );
    for (const channel of this.#channels.keys()) await this.#listen(client, channel);
    if (this.#client !== client) throw new Error("The connection that listened was lost.");
    return client;
  }

  /** To a channel of this connection alone. */
  async #listenTo(client: PostgresClient, channel: string, onPayload: Listener): Promise<() => Promise<void>> {
    client.on("notification", (message) => {
      if (message.channel === channel) onPayload(message.payload ?? "");
    });
    await this.#query(client, `listen ${channel}`);
    return () => this.#query(client, `unlisten ${channel}`);
  }

  async #listen(client: PostgresClient, channel: string): Promise<void> {
    try {
      await this.#query(client, `listen ${channel}`);
    } catch {
      this.#lose(client);
    }
  }

  async #query(client: PostgresClient, sql: string): Promise<void> {
    // The connection keeps the process alive only while a query runs.
    if (this.#pendingQueries++ === 0) client.ref?.();
    try {
      await this.#inTurn(client, sql);
    } finally {
      if (--this.#pendingQueries === 0) client.unref?.();
    }
  }

  /** One query after the other: `pg` warns of a second one while a client runs one, and later versions refuse it. */
  #inTurn(client: PostgresClient, sql: string): Promise<unknown> {
    const result = this.#turn.then(() => client.query(sql));
    this.#turn = result.catch(() => {});
    return result;
  }

  #beat(client: PostgresClient): void {
    this.#after(heartbeatMs, async () => {
      let answered = false;
      this.#inTurn(client, "select 1").then(
        () => {
          answered = true;
          if (this.#client === client) this.#beat(client);
        },
        () => this.#lose(client),
      );
      this.#after(heartbeatMs, () => {
        if (!answered) this.#lose(client);
      });
    });
  }

  /** Once for each connection, whatever of it fails first. */
  #lose(client: PostgresClient): void {
    if (this.#client !== client) return;
    this.#drop();
    this.#retry();
  }

  #drop(): void {
    this.#client?.release(true);
    this.#client = undefined;
  }

  #retry(): void {
    if (this.#channels.size === 0) return;
    const pause = Math.min(firstPauseMs * 2 ** this.#failures++, longestPauseMs);
    // One that fails has seen to the next.
    this.#after(pause * (0.5 + Math.random() / 2), () => this.#connect().catch(() => {}));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#drop();
  }

  #after(ms: number, action: () => unknown): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, ms);
    letProcessEnd(this.#timer);
  }
}

/** A pool of `pg` shows how it connects. */
interface PgPool {
  Client: new (options: object) => PgClient;
  options: object;
}

interface PgClient extends Omit<PostgresClient, "release"> {
  connect(): Promise<unknown>;
  end(): Promise<unknown>;
}

/**
 * Opens a connection to listen on. With a pool of `pg` it stands beside the pool. A client that is checked out for good
 * would take the last connection of a pool of one, and keep `pool.end()` waiting until the gateway is closed.
 *
 * @throws NoChangeFeedError when the pool can open none.
 */
async function openListener(pool: PostgresPool): Promise<PostgresClient> {
  if (!isPgPool(pool)) {
    if (pool.connect) return pool.connect();
    throw new NoChangeFeedError(
      "The pool has neither `connect` nor `listen`. Give it one of them, or `listen: false` to do without.",
    );
  }
  const client = new pool.Client(pool.options);
  // An error without a listener would end the process. The `end` event reports it too.
  client.on("error", () => {});
  await client.connect();
  return Object.assign(client, {
    release: () => {
      client.end().catch(() => {});
    },
  });
}

function isPgPool(pool: object): pool is PgPool {
  const { Client, options } = pool as Partial<PgPool>;
  return typeof Client === "function" && typeof options === "object" && options !== null;
}

const tickMs = 100;
const mostTicks = 20;

/**
 * Makes sure that a notice through the pool arrives. PgBouncer in transaction mode takes a LISTEN, and then gives the
 * connection that listens to others.
 *
 * @throws NoChangeFeedError when no notice arrives within two seconds.
 */
export async function requireNotifications(pool: PostgresPool, listen: ListenPool, channel: string): Promise<void> {
  const word = `${Date.now()}-${Math.random()}`;
  let isHeard = false;
  let wake: () => void = () => {};
  const end = await listen(channel, (payload) => {
    if (payload !== word) return;
    isHeard = true;
    wake();
  });
  try {
    await pool.query("select pg_notify($1, $2)", [channel, word]);
    // By ticks: a notice that a blocked process has not read yet is not late.
    for (let tick = 0; tick < mostTicks && !isHeard; tick++) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, tickMs);
        // The wait cannot be cancelled, so it must not outlive a closed gateway. The first tick keeps a process alive
        // that does nothing but subscribe: mostly the notice arrives within it.
        if (tick > 0) letProcessEnd(timer);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    await end();
  }
  if (isHeard) return;
  throw new NoChangeFeedError(
    "PostgreSQL's notifications do not arrive. If PgBouncer is in between in transaction mode, give the stores a way around " +
      "it, `pool: { query: …, connect: … }`, or `listen: false` to do without.",
  );
}

/** The pool has no notices of changes. The message says what to do about it; the gateway shows it in a warning. */
class NoChangeFeedError extends Error {
  override readonly name = "NoChangeFeedError";
}
