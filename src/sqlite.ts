export type { SqliteOptions } from "./sqlite/sqlite-connection.js";
export type { SqliteCreditLedgerOptions } from "./sqlite/sqlite-credit-ledger.js";
export { sqliteCreditLedger } from "./sqlite/sqlite-credit-ledger.js";
export type { SqliteDatabase, SqliteStatement, SqliteValue } from "./sqlite/sqlite-database.js";
export { sqliteKeyStore } from "./sqlite/sqlite-key-store.js";
export { sqlitePlanStore } from "./sqlite/sqlite-plan-store.js";
export type { SqliteStores } from "./sqlite/sqlite-stores.js";
export { sqliteStores } from "./sqlite/sqlite-stores.js";
