import type { Clock } from "../../../../src/ledger/calendar.js";
import { clockSql, type MysqlPool, type MysqlPromisePool } from "../../../../src/stores/mysql/mysql-database.js";

/** A pool for whose statements the database's clock stands where a test puts it. */
export function shiftedPool(pool: MysqlPromisePool, clock: Clock): MysqlPool {
  return {
    async getConnection() {
      const connection = await pool.getConnection();
      return {
        query: ({ sql, ...options }) =>
          connection.query({ ...options, sql: sql.replaceAll(clockSql, String(clock.now())) }),
        release: () => connection.release(),
        destroy: () => connection.destroy(),
      };
    },
  };
}
