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

/** What is needed of a `sql` of postgres.js. */
export interface PostgresJs {
  unsafe(text: string, values?: never[]): PromiseLike<readonly unknown[]>;
  listen?(channel: string, onNotify: (payload: string) => void): Promise<{ unlisten(): Promise<void> }>;
}

/** Options of {@link fromPostgresJs}. */
export interface FromPostgresJsOptions {
  /**
   * Whether the stores subscribe to changes. postgres.js then opens a connection more, which keeps the process alive until
   * `sql.end()`. `false`: what other processes change is known here when caches forget. Default: `true`.
   */
  listen?: boolean | undefined;
}

/** Makes a `sql` of postgres.js into the pool that the stores take. */
export function fromPostgresJs(sql: PostgresJs, { listen = true }: FromPostgresJsOptions = {}): PostgresPool {
  return {
    query: async (text, values) => ({ rows: [...(await sql.unsafe(text, values as never[]))] }),
    listen: listen && listenWith(sql),
  };
}

function listenWith(sql: PostgresJs): ListenPool | undefined {
  if (typeof sql.listen !== "function") return undefined;
  return async (channel, onPayload) => {
    const subscription = await sql.listen?.(channel, onPayload);
    return async () => void (await subscription?.unlisten());
  };
}
