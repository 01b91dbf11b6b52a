import type pg from "pg";
import type { Books } from "./books.js";
import { readDump } from "./dump.js";

/** Makes a schema as a release has left it. */
export async function loadPostgres(pool: pg.Pool, schema: string, release: string): Promise<Books> {
  const { text, books } = readDump(release, "postgres");
  const sql = text.replaceAll(/\binfergate\b(?=[.;])/g, schema);
  await pool.query(`begin; set local check_function_bodies = off; ${sql} commit;`);
  return books;
}
