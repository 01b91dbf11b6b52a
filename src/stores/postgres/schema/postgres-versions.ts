import { postgresVersion1 } from "./version-1.js";

/**
 * What each version of the schema does, the first version first: to tables, types and triggers, and to functions that
 * cannot be replaced, because the types or names of their parameters or their results change: it drops those. All other
 * functions are in `postgresFunctions` alone, which follows the newest version.
 *
 * A released version is never edited. To change anything, functions included, add a version: docs/adding/schema.md.
 */
export const postgresVersions: readonly string[] = [postgresVersion1];
