import type { Clock } from "../../../../src/ledger/clock.js";
import type { MysqlPool, MysqlPromisePool } from "../../../../src/mysql/mysql-pool.js";
import { clockSql } from "../../../../src/mysql/sql-literals.js";

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
