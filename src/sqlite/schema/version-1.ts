import { creditTables } from "./version-1/credits.js";
import { logTables } from "./version-1/logs.js";
import { recordTables } from "./version-1/records.js";
import { responseTables } from "./version-1/responses.js";
import { usageTables } from "./version-1/usage.js";

export const sqliteVersion1 = [creditTables, usageTables, recordTables, responseTables, logTables].join("");
