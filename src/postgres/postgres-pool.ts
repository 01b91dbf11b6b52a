/**
 * What the stores need of PostgreSQL. A `Pool` of the `pg` package is one; for postgres.js there is {@link fromPostgresJs}.
 * Behind PgBouncer, `query` works in transaction mode too, while `connect` must lead to the server itself.
 */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** Checks out a connection of its own. Used by subscriptions only, which need `LISTEN`: without it there are none. */
  connect?(): Promise<PostgresClient>;
}

/** A connection of a {@link PostgresPool}, as `pg` makes it. */
export interface PostgresClient {
  query(text: string): Promise<unknown>;
  on(event: "notification", listener: (message: { channel: string; payload?: string | undefined }) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  /** Lets the process end though the connection is open. */
  unref?(): void;
  /** @param destroy - closes the connection rather than putting it back. */
  release(destroy: boolean): void;
}
