/** What the stores need of a pool of `mysql2/promise`. */
export interface MysqlPromisePool {
  getConnection(): Promise<MysqlConnection>;
}

/** What the stores need of a pool of plain `mysql2`. */
export interface MysqlCallbackPool {
  promise(): MysqlPromisePool;
}

/**
 * The host's own pool of `mysql2`, with promises or with callbacks. It is used as it is, and never closed. Its connections must
 * reach the server that writes: a replica is behind.
 */
export type MysqlPool = MysqlPromisePool | MysqlCallbackPool;

/** A connection of a {@link MysqlPool}. */
export interface MysqlConnection {
  query(options: {
    sql: string;
    rowsAsArray: true;
    typeCast: true;
    nestTables: false;
    timeout: number;
  }): Promise<[unknown, unknown]>;
  /** Puts it back into the pool. */
  release(): void;
  destroy(): void;
}

export function isMysqlPool(pool: unknown): pool is MysqlPool {
  return typeof (pool as Partial<MysqlPromisePool> | null | undefined)?.getConnection === "function";
}

/** Takes a connection out of a pool of either kind. */
export function takeConnection(pool: MysqlPool): Promise<MysqlConnection> {
  return "promise" in pool ? pool.promise().getConnection() : pool.getConnection();
}

/** So long may a server say nothing, in milliseconds. Then the connection is taken for dead. */
const mostSilentMs = 5_000;
/** The same for statements that read a lot. */
export const mostReadingMs = 60_000;

/** @returns rows of columns, whatever the pool's options say. */
export async function runSql(
  connection: MysqlConnection,
  sql: string,
  timeout = mostSilentMs,
): Promise<readonly (readonly unknown[])[]> {
  const [rows] = await connection.query({ sql, rowsAsArray: true, typeCast: true, nestTables: false, timeout });
  return rows as unknown[][];
}

/** @returns how many rows it has deleted. */
export async function changeCount(connection: MysqlConnection, sql: string): Promise<number> {
  return ((await runSql(connection, sql)) as unknown as { affectedRows: number }).affectedRows;
}
