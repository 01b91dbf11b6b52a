import { Kysely, PostgresDialect, SqliteDialect } from "kysely";
import Database from "libsql";
import pg from "pg";
import { databaseUrl, sqliteFile } from "./settings.js";

/** The app's own tables. better-auth makes those of its users and sessions. */
interface Tables {
  note: { id: string; userId: string; text: string; summary: string | null };
  user: { id: string; email: string };
}

export const pool =
  databaseUrl === undefined ? undefined : new pg.Pool({ connectionString: databaseUrl, query_timeout: 5_000 });
pool?.on("error", (error) => console.error(`PostgreSQL: ${error.message}`));

export const databaseType = pool ? "postgres" : "sqlite";

export const database = new Kysely<Tables>({
  dialect: pool ? new PostgresDialect({ pool }) : new SqliteDialect({ database: openSqlite() }),
});

/** Opens one more connection to the file. */
export function openSqlite(): Database.Database {
  const connection = new Database(sqliteFile);
  connection.pragma("journal_mode = WAL");
  connection.pragma("busy_timeout = 5000");
  return connection;
}

export async function makeTables(): Promise<void> {
  await database.schema
    .createTable("note")
    .ifNotExists()
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("userId", "text", (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .addColumn("summary", "text")
    .execute();
}
