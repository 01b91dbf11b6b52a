/**
 * What the stores need of PostgreSQL. A `Pool` of the `pg` package is one, and so are a PGlite and Neon's
 * `neon(url, { fullResults: true })`; for postgres.js there is {@link fromPostgresJs}.
 *
 * Each statement stands alone, unnamed and in its own transaction, so `query` may go through PgBouncer in transaction mode.
 * `connect` may not: give `{ query: (text, values) => bouncer.query(text, values), connect: () => direct.connect() }`.
 */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** Checks out a connection of its own, for `LISTEN`. */
  connect?(): Promise<PostgresClient>;
  /**
   * Replaces `connect` where a driver listens without it. `false`: the stores do not listen. Without `listen` and
   * `connect` they cannot, and the gateway warns: changes in other processes take effect here when caches forget.
   */
  listen?: ListenPool | false | undefined;
}

/** Calls back with what is sent to a channel. Resolves, once it listens, with what ends it. */
export type ListenPool = (channel: string, onPayload: (payload: string) => void) => Promise<() => Promise<void>>;

/** A connection of a {@link PostgresPool}, as `pg` makes it. */
export interface PostgresClient {
  query(text: string): Promise<unknown>;
  on(event: "notification", listener: (message: { channel: string; payload?: string | undefined }) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  ref?(): void;
  /** Lets the process end though the connection is open. */
  unref?(): void;
  /** @param destroy - closes the connection rather than putting it back. */
  release(destroy: boolean): void;
}
