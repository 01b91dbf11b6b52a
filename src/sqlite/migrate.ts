import { sqliteVersions } from "./schema/sqlite-versions.js";
import type { SqliteDatabase } from "./sqlite-database.js";

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
