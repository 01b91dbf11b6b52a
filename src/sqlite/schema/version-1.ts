import { sqliteCreditTables } from "./version-1/credits.js";
import { sqliteLogTables } from "./version-1/logs.js";
import { sqliteRecordTables } from "./version-1/records.js";
import { sqliteResponseTables } from "./version-1/responses.js";
import { sqliteUsageTables } from "./version-1/usage.js";

export const sqliteVersion1 = [
  sqliteCreditTables,
  sqliteUsageTables,
  sqliteRecordTables,
  sqliteResponseTables,
  sqliteLogTables,
].join("");
