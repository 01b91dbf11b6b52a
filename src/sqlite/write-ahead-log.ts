import type { SqliteDatabase } from "./sqlite-database.js";

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
