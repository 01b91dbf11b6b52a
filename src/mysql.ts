export type { MysqlCallbackPool, MysqlConnection, MysqlPool, MysqlPromisePool } from "./mysql/mysql-pool.js";
export { type MysqlStores, type MysqlStoresOptions, mysqlStores } from "./mysql/mysql-stores.js";
