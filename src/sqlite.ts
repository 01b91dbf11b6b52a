export type { RequestLogLimits } from "./request-log/request-log.js";
export type { SqliteAuditTrailOptions } from "./stores/sqlite/sqlite-audit-trail.js";
export { sqliteAuditTrail } from "./stores/sqlite/sqlite-audit-trail.js";
export type { SqliteOptions } from "./stores/sqlite/sqlite-connection.js";
export type { SqliteCreditLedgerOptions } from "./stores/sqlite/sqlite-credit-ledger.js";
export { sqliteCreditLedger } from "./stores/sqlite/sqlite-credit-ledger.js";
export type { SqliteDatabase, SqliteStatement, SqliteValue } from "./stores/sqlite/sqlite-database.js";
export type { SqliteRequestLogOptions } from "./stores/sqlite/sqlite-request-log.js";
export { sqliteRequestLog } from "./stores/sqlite/sqlite-request-log.js";
export type { SqliteResponseStoreOptions } from "./stores/sqlite/sqlite-response-store.js";
export { sqliteResponseStore } from "./stores/sqlite/sqlite-response-store.js";
export type { SqliteStores, SqliteStoresOptions } from "./stores/sqlite/sqlite-stores.js";
export {
  sqliteAccountStore,
  sqliteBudgetStore,
  sqliteKeyStore,
  sqliteModelStore,
  sqlitePlanStore,
  sqliteStores,
} from "./stores/sqlite/sqlite-stores.js";
