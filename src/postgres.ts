export type { RequestLogLimits } from "./books/requests/request-log-limits.js";
export type { PostgresBatchOptions } from "./postgres/batching/batch-options.js";
export { type PostgresAuditTrailOptions, postgresAuditTrail } from "./postgres/books/postgres-audit-trail.js";
export type { PostgresOptions } from "./postgres/database.js";
export { type FromPostgresJsOptions, fromPostgresJs, type PostgresJs } from "./postgres/from-postgres-js.js";
export { type PostgresCreditLedgerOptions, postgresCreditLedger } from "./postgres/postgres-credit-ledger.js";
export type { ListenPool, PostgresClient, PostgresPool } from "./postgres/postgres-pool.js";
export {
  postgresAccountStore,
  postgresBudgetStore,
  postgresKeyStore,
  postgresModelStore,
  postgresPlanStore,
} from "./postgres/postgres-single-stores.js";
export { type PostgresStores, type PostgresStoresOptions, postgresStores } from "./postgres/postgres-stores.js";
export type { PostgresRequestLogOptions } from "./postgres/requests/postgres-request-log.js";
export { postgresRequestLog } from "./postgres/requests/postgres-request-log.js";
export type { PostgresResponseStoreOptions } from "./postgres/responses/postgres-response-store.js";
export { postgresResponseStore } from "./postgres/responses/postgres-response-store.js";
