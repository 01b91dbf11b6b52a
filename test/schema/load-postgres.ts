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
