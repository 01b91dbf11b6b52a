import type pg from "pg";
import type { Books } from "./books.js";
import { readDump } from "./dump.js";

/** Makes a schema as a commit has left it. */
export async function loadPostgres(pool: pg.Pool, schema: string, commit: string): Promise<{ readonly books: Books }> {
  const { text, books } = readDump(commit, "postgres");
  const sql = text.replaceAll(/\binfergate\b(?=[.;])/g, schema);
  await pool.query(`begin; set local check_function_bodies = off; ${sql} commit;`);
  return { books };
}

/** Makes a schema as the code of a commit has made it, with nothing in it. */
export async function loadEmptyPostgres(pool: pg.Pool, schema: string, commit: string): Promise<void> {
  await loadPostgres(pool, schema, commit);
  const { rows } = await pool.query<{ tables: string }>(
    `select string_agg(format('%I.%I', schemaname, tablename), ', ') as tables from pg_tables
     where schemaname = $1 and tablename not in ('migration', 'retention', 'usage_listed')`,
    [schema],
  );
  await pool.query(`truncate ${rows[0]?.tables}`);
}
