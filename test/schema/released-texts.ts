import { createHash } from "node:crypto";
import { postgresFunctions } from "../../src/postgres/schema/postgres-functions.js";
import { postgresVersions } from "../../src/postgres/schema/postgres-versions.js";
import { sqliteVersions } from "../../src/sqlite/schema/sqlite-versions.js";

/** Every text that is not edited any more once it is released, by a name for it, with its digest. */
export function releasedTexts(): Readonly<Record<string, string>> {
  const texts = [
    ...postgresVersions.map((sql, index) => [`postgres ${index + 1}`, sql] as const),
    [`postgres functions of ${postgresVersions.length}`, postgresFunctions] as const,
    ...sqliteVersions.map((sql, index) => [`sqlite ${index + 1}`, sql] as const),
  ];
  return Object.fromEntries(texts.map(([name, text]) => [name, createHash("sha256").update(text).digest("hex")]));
}
