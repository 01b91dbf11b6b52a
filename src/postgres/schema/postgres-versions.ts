import { postgresVersion1 } from "./version-1.js";
import { postgresVersion2 } from "./version-2.js";
import { postgresVersion3 } from "./version-3.js";
import { postgresVersion4 } from "./version-4.js";
import { postgresVersion5 } from "./version-5.js";
import { postgresVersion6 } from "./version-6.js";
import { postgresVersion7 } from "./version-7.js";
import { postgresVersion8 } from "./version-8.js";
import { postgresVersion9 } from "./version-9.js";
import { postgresVersion10 } from "./version-10.js";
import { postgresVersion11 } from "./version-11.js";

/**
 * What each version of the schema does, the first version first: to tables, types and triggers, and to functions that
 * cannot be replaced, because the types or names of their parameters or their results change: it drops those. All other
 * functions are in `postgresFunctions` alone, which follows the newest version.
 *
 * A released version is never edited. To change anything, functions included, add a version: docs/adding/schema.md.
 */
export const postgresVersions: readonly string[] = [
  postgresVersion1,
  postgresVersion2,
  postgresVersion3,
  postgresVersion4,
  postgresVersion5,
  postgresVersion6,
  postgresVersion7,
  postgresVersion8,
  postgresVersion9,
  postgresVersion10,
  postgresVersion11,
];
