import { sqliteVersion1 } from "./version-1.js";

/**
 * What each version of the tables does, the first version first. A released version is never edited. To change anything,
 * add a version: docs/adding/schema.md.
 *
 * All texts are compared byte for byte. A moment is in epoch milliseconds, an amount in micro-credits.
 */
export const sqliteVersions: readonly string[] = [sqliteVersion1];
