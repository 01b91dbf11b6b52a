export type { PostgresOptions } from "./postgres/database.js";
export { type FromPostgresJsOptions, fromPostgresJs, type PostgresJs } from "./postgres/from-postgres-js.js";
export { type PostgresCreditLedgerOptions, postgresCreditLedger } from "./postgres/postgres-credit-ledger.js";
export { postgresKeyStore } from "./postgres/postgres-key-store.js";
export { postgresPlanStore } from "./postgres/postgres-plan-store.js";
export type { ListenPool, PostgresClient, PostgresPool } from "./postgres/postgres-pool.js";
export { type PostgresStores, type PostgresStoresOptions, postgresStores } from "./postgres/postgres-stores.js";
export type { PostgresResponseStoreOptions } from "./postgres/responses/postgres-response-store.js";
export { postgresResponseStore } from "./postgres/responses/postgres-response-store.js";
