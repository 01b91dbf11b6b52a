import type { PostgresPool } from "./postgres-pool.js";

/** What is needed of a `sql` of postgres.js. */
export interface PostgresJs {
  unsafe(text: string, values?: never[]): PromiseLike<readonly unknown[]>;
  listen(channel: string, onNotify: (payload: string) => void): Promise<{ unlisten(): Promise<void> }>;
}

/** Options of {@link fromPostgresJs}. */
export interface FromPostgresJsOptions {
  /**
   * Whether the stores may subscribe to changes. postgres.js then opens a connection more, which keeps the process alive
   * until `sql.end()`. Default: `false`.
   */
  listen?: boolean | undefined;
}

/** Makes a `sql` of postgres.js into the pool that the stores take. */
export function fromPostgresJs(sql: PostgresJs, { listen = false }: FromPostgresJsOptions = {}): PostgresPool {
  const pool: PostgresPool = {
    query: async (text, values) => ({ rows: [...(await sql.unsafe(text, values as never[]))] }),
  };
  if (!listen) return pool;
  return {
    ...pool,
    async listen(channel, onPayload) {
      const { unlisten } = await sql.listen(channel, onPayload);
      return async () => void (await unlisten());
    },
  };
}
