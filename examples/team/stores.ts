import { fileURLToPath } from "node:url";
import { postgresStores } from "infergate/postgres";
import { sqliteStores } from "infergate/sqlite";
import Database from "libsql";
import pg from "pg";

const { DATABASE_URL: connectionString, SQLITE_FILE: file } = process.env;

function openPostgres() {
  const pool = new pg.Pool({ connectionString, query_timeout: 5_000 });
  pool.on("error", (error) => console.error(`PostgreSQL: ${error.message}`));
  return { stores: postgresStores({ pool }), closeStores: () => pool.end() };
}

function openSqlite() {
  const database = new Database(file ?? fileURLToPath(new URL("team.db", import.meta.url)));
  database.pragma("journal_mode = WAL");
  database.pragma("busy_timeout = 5000");
  return { stores: sqliteStores({ database }), closeStores: async () => void database.close() };
}

export const { stores, closeStores } = connectionString ? openPostgres() : openSqlite();
