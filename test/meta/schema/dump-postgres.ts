import { execFileSync } from "node:child_process";

const binaries = process.env["POSTGRES_BIN"] ?? "/usr/lib/postgresql/15/bin";

/** The schema `infergate` with all that is in it, as SQL that makes it again. */
export function dumpPostgres(url: string): string {
  const flags = ["--schema=infergate", "--inserts", "--no-owner", "--no-privileges"];
  const dump = execFileSync(`${binaries}/pg_dump`, [...flags, url], { encoding: "utf8", maxBuffer: 2 ** 28 });
  return (
    dump
      // What differs between versions of pg_dump, and what is of the session.
      .replaceAll(/^(SET|SELECT pg_catalog\.set_config|\\(un)?restrict).*\n/gm, "")
      .replaceAll(/^--\n-- .*\n--\n/gm, "")
      .replaceAll(/\n{3,}/g, "\n\n")
      .trim()
      .concat("\n")
  );
}
