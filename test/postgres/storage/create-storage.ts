import type { PostgresPool } from "../../../src/postgres/postgres-pool.js";
import { inSchema } from "../../../src/postgres/schema/in-schema.js";
import { storageFunctions } from "../../../src/postgres/storage/storage-functions.js";
import { storageTables } from "../../../src/postgres/storage/storage-tables.js";

/** Makes the tables and functions of a storage in a schema. */
export async function createStorage(pool: PostgresPool, schema: string): Promise<void> {
  for (const sql of [...storageTables, ...storageFunctions]) await pool.query(inSchema(sql, schema));
}
