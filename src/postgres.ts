export type { RequestLogLimits } from "./request-log/request-log.js";
export type { PostgresOptions } from "./stores/postgres/database.js";
export type { PostgresBatchOptions } from "./stores/postgres/ledger/account-queue.js";
export { type PostgresAuditTrailOptions, postgresAuditTrail } from "./stores/postgres/postgres-audit-trail.js";
export { type PostgresCreditLedgerOptions, postgresCreditLedger } from "./stores/postgres/postgres-credit-ledger.js";
export type { ListenPool, PostgresClient, PostgresPool } from "./stores/postgres/postgres-pool.js";
export { type FromPostgresJsOptions, fromPostgresJs, type PostgresJs } from "./stores/postgres/postgres-pool.js";
export type { PostgresRequestLogOptions } from "./stores/postgres/postgres-request-log.js";
export { postgresRequestLog } from "./stores/postgres/postgres-request-log.js";
export type { PostgresResponseStoreOptions } from "./stores/postgres/postgres-response-store.js";
export { postgresResponseStore } from "./stores/postgres/postgres-response-store.js";
export {
  type PostgresStores,
  type PostgresStoresOptions,
  postgresAccountStore,
  postgresBudgetStore,
  postgresKeyStore,
  postgresModelStore,
  postgresPlanStore,
  postgresStores,
} from "./stores/postgres/postgres-stores.js";
