export type { MysqlCallbackPool, MysqlConnection, MysqlPool, MysqlPromisePool } from "./stores/mysql/mysql-database.js";
export { type MysqlStores, type MysqlStoresOptions, mysqlStores } from "./stores/mysql/mysql-stores.js";
