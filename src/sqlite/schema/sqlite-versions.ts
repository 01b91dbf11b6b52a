import { sqliteVersion1 } from "./version-1.js";
import { sqliteVersion2 } from "./version-2.js";
import { sqliteVersion3 } from "./version-3.js";
import { sqliteVersion4 } from "./version-4.js";
import { sqliteVersion5 } from "./version-5.js";
import { sqliteVersion6 } from "./version-6.js";
import { sqliteVersion7 } from "./version-7.js";
import { sqliteVersion8 } from "./version-8.js";
import { sqliteVersion9 } from "./version-9.js";
import { sqliteVersion10 } from "./version-10.js";
import { sqliteVersion11 } from "./version-11.js";

/**
 * What each version of the tables does, the first version first. A released version is never edited. To change anything,
 * add a version: docs/adding/schema.md.
 *
 * All texts are compared byte for byte. A moment is in epoch milliseconds, an amount in micro-credits.
 */
export const sqliteVersions: readonly string[] = [
  sqliteVersion1,
  sqliteVersion2,
  sqliteVersion3,
  sqliteVersion4,
  sqliteVersion5,
  sqliteVersion6,
  sqliteVersion7,
  sqliteVersion8,
  sqliteVersion9,
  sqliteVersion10,
  sqliteVersion11,
];
