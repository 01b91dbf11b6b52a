import { sqliteVersions } from "./schema/sqlite-versions.js";

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

interface Connection extends SqliteDatabase {
  transaction<Result>(run: () => Result): Result;
}

/**
 * Brings the tables up to date. The process with the lock does it; another one that starts at the same time finds it
 * done.
 *
 * @throws Error when a newer release made the tables.
 */
export function migrate(connection: Connection, versions = sqliteVersions): void {
  if (isUpToDate(connection, versions.length)) return;
  connection.transaction(() => {
    connection.exec("CREATE TABLE IF NOT EXISTS infergate_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT");
    for (const version of versions.slice(versionOf(connection, versions.length))) connection.exec(version);
    connection.prepare("REPLACE INTO infergate_meta VALUES ('version', ?)").run(versions.length);
  });
}

/** Looks without the write lock, which may be another's for long. */
function isUpToDate(connection: SqliteDatabase, newest: number): boolean {
  const tables = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'infergate_meta'");
  return tables.all().length > 0 && versionOf(connection, newest) === newest;
}

function versionOf(connection: SqliteDatabase, newest: number): number {
  const [row] = connection.prepare("SELECT value FROM infergate_meta WHERE name = 'version'").all();
  const version = Number((row as { value: unknown } | undefined)?.value ?? 0);
  if (version <= newest) return version;
  throw new Error(`The database has tables of a newer release of infergate: version ${version}, not ${newest}.`);
}

const pauseMs = 5;
const attempts = 1_000;
const nobody = new Int32Array(new SharedArrayBuffer(4));

/**
 * Turns the database to write-ahead logging, which it keeps. A new file's first processes are in each other's way there:
 * SQLite gives up at once then, whatever the busy timeout.
 */
export function useWriteAheadLog(database: SqliteDatabase): void {
  for (let attempt = 1; ; attempt++) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (attempt === attempts || !String(error).includes("database is locked")) throw error;
    }
    Atomics.wait(nobody, 0, 0, pauseMs);
  }
}

/** SQLite's error for a database that another connection has locked: `SQLITE_BUSY` and its extended codes. */
const busy = 5;

/**
 * Whether another connection has locked the database. Each driver reports it in its own way, and all with SQLite's
 * text.
 */
export function isLocked(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof code === "string" && code.startsWith("SQLITE_BUSY")) return true;
  if (typeof errcode === "number") return (errcode & 0xff) === busy;
  return error.message.includes("database is locked");
}

/** A database may be set to return integers as BigInt. All that the stores keep are safe integers. */
export function toNumber(value: unknown): number {
  return Number(value);
}

export function toNumberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
