import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mysqlTables } from "../../../src/stores/mysql/mysql-stores.js";
import { postgresFunctions } from "../../../src/stores/postgres/schema/postgres-functions.js";
import { postgresVersions } from "../../../src/stores/postgres/schema/postgres-versions.js";
import { sqliteVersions } from "../../../src/stores/sqlite/schema/sqlite-versions.js";

/** What is not edited any more once it is released, by a name for it, with its digest. */
export function releasedTexts(): Readonly<Record<string, string>> {
  const texts = [
    ...postgresVersions.map((sql, index) => [`postgres ${index + 1}`, sql] as const),
    [`postgres functions of ${postgresVersions.length}`, postgresFunctions] as const,
    ...sqliteVersions.map((sql, index) => [`sqlite ${index + 1}`, sql] as const),
    ["mysql 1", mysqlTables.join()] as const,
    ...["dumps", "redis-layouts"].flatMap(filesOf),
  ];
  return Object.fromEntries(texts.map(([name, text]) => [name, createHash("sha256").update(text).digest("hex")]));
}

/** What releases have left. */
function filesOf(folder: string): (readonly [name: string, bytes: Buffer])[] {
  const url = new URL(`${folder}/`, import.meta.url);
  if (!existsSync(url)) return [];
  const files = readdirSync(url, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(url.pathname.length).replace(/^\//, ""))
    .toSorted()
    .map((name) => [`${folder}/${name}`, readFileSync(new URL(name, url))]);
}
