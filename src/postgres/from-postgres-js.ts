import type { ListenPool, PostgresPool } from "./postgres-pool.js";

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
