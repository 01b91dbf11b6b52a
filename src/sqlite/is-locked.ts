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
