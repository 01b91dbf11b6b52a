export type { RequestLogLimits } from "./books/requests/request-log-limits.js";
export type { SqliteAuditTrailOptions } from "./sqlite/books/sqlite-audit-trail.js";
export { sqliteAuditTrail } from "./sqlite/books/sqlite-audit-trail.js";
export type { SqliteRequestLogOptions } from "./sqlite/requests/sqlite-request-log.js";
export { sqliteRequestLog } from "./sqlite/requests/sqlite-request-log.js";
export type { SqliteResponseStoreOptions } from "./sqlite/responses/sqlite-response-store.js";
export { sqliteResponseStore } from "./sqlite/responses/sqlite-response-store.js";
export type { SqliteOptions } from "./sqlite/sqlite-connection.js";
export type { SqliteCreditLedgerOptions } from "./sqlite/sqlite-credit-ledger.js";
export { sqliteCreditLedger } from "./sqlite/sqlite-credit-ledger.js";
export type { SqliteDatabase, SqliteStatement, SqliteValue } from "./sqlite/sqlite-database.js";
export {
  sqliteAccountStore,
  sqliteBudgetStore,
  sqliteKeyStore,
  sqliteModelStore,
  sqlitePlanStore,
} from "./sqlite/sqlite-single-stores.js";
export type { SqliteStores, SqliteStoresOptions } from "./sqlite/sqlite-stores.js";
export { sqliteStores } from "./sqlite/sqlite-stores.js";
