import { postgresStores } from "infergate/postgres";
import { sqliteStores } from "infergate/sqlite";
import { openSqlite, pool } from "./database.js";

function openStores() {
  if (pool) return { stores: postgresStores({ pool }), closeStores: () => {} };
  const connection = openSqlite(); // The stores want one of their own.
  return { stores: sqliteStores({ database: connection }), closeStores: () => connection.close() };
}

export const { stores, closeStores } = openStores();
