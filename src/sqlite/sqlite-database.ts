/** What is bound to a statement's parameters. */
export type SqliteValue = string | number | null;

export interface SqliteStatement {
  run(...values: SqliteValue[]): unknown;
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

/**
 * An open database: what `better-sqlite3`, `libsql`, Node's `DatabaseSync` and Bun's `Database` have in common.
 *
 * It should be a connection of the stores' own: a transaction that its host leaves open is in their way.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}
