import { createPool, type Pool } from "mysql2/promise";
import { afterAll, beforeAll } from "vitest";
import { MysqlDatabase } from "../../../src/stores/mysql/mysql-database.js";
import { MysqlRecordStore, mysqlRecordTables } from "../../../src/stores/mysql/mysql-record-store.js";
import { describeWithMariaDb } from "../../support/mariadb-server.js";
import { describeRecordStore } from "../contracts/describe-record-store.js";

describeWithMariaDb("MariaDB", (server) => {
  let pools: readonly [Pool, Pool];
  beforeAll(() => {
    pools = [createPool(server.url), createPool(server.url)];
  });
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));

  const storeOn = (pool: Pool) => new MysqlRecordStore(new MysqlDatabase({ pool }, mysqlRecordTables));
  describeRecordStore("MysqlRecordStore", () => [storeOn(pools[0]), storeOn(pools[1])]);
});
