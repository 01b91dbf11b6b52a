import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";

/** All that a database has, as SQL that makes it again. */
export function dumpSqlite(database: SqliteDatabase): string {
  const objects = database.prepare(
    `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'sqlite_sequence'
     ORDER BY type = 'table' DESC, name`,
  );
  const lines: string[] = [];
  for (const { type, name, sql } of objects.all() as { type: string; name: string; sql: string }[]) {
    lines.push(`${sql};`);
    if (type === "table") lines.push(...rowsOf(database, name));
  }
  // SQLite makes this table with the first one that needs it.
  const hasSequences = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").all().length > 0;
  if (hasSequences) lines.push("DELETE FROM sqlite_sequence;", ...rowsOf(database, "sqlite_sequence"));
  return `${lines.join("\n")}\n`;
}

function rowsOf(database: SqliteDatabase, table: string): string[] {
  const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[];
  const quoted = columns.map(({ name }) => `quote(${name})`).join(" || ', ' || ");
  const rows = database.prepare(`SELECT ${quoted} AS row FROM ${table} ORDER BY 1`).all() as { row: string }[];
  return rows.map(({ row }) => `INSERT INTO ${table} VALUES (${row});`);
}
