import { createPool, type Pool } from "mysql2/promise";
import { storageCreditLedger } from "../../../src/ledger/storage/storage-credit-ledger.js";
import { MysqlDatabase } from "../../../src/stores/mysql/mysql-database.js";
import { MysqlRecordStore } from "../../../src/stores/mysql/mysql-record-store.js";
import { MysqlStorage } from "../../../src/stores/mysql/mysql-storage.js";
import { mysqlStores, mysqlTables } from "../../../src/stores/mysql/mysql-stores.js";
import { hasMariaDb, MariaDbServer } from "../../support/mariadb-server.js";
import { MeasuredStorage } from "../mysql/storage/measured-storage.js";
import { shiftedPool } from "../mysql/storage/shifted-pool.js";
import type { StoreUnderTest } from "./store-under-test.js";

/** Never reached: the clocks of the suites start anew, but what is deleted is deleted for all. */
const retentionMs = 50 * 365 * 86_400_000;

/** A server of its own. */
export function mariaDb(): StoreUnderTest {
  const server = new MariaDbServer();
  let pools: readonly [Pool, Pool];
  let prefixes = 0;
  return {
    name: "MariaDB",
    isHere: hasMariaDb,
    async start() {
      await server.create();
      pools = [createPool(server.url), createPool(server.url)];
    },
    async stop() {
      await Promise.all((pools ?? []).map((pool) => pool.end()));
      await server.remove();
    },
    records() {
      const storeOn = (pool: Pool) => new MysqlRecordStore(new MysqlDatabase({ pool }, mysqlTables));
      return [storeOn(pools[0]), storeOn(pools[1])];
    },
    stores: () => [mysqlStores({ pool: pools[0] }), mysqlStores({ pool: pools[1] })],
    models: () => ({
      store: mysqlStores({ pool: pools[0] }).modelStore,
      write: (id, text) =>
        pools[1].execute("replace into infergate_record (kind, id, owner, text) values ('model', ?, '', ?)", [
          id,
          text,
        ]),
      async fill(count) {
        await pools[1].query("delete from infergate_record where kind = 'model'");
        const ids = Array.from({ length: count }, (_, index) => `full/${index + 1}`);
        const rows = ids.map((id) => ["model", id, "", JSON.stringify({ id })]);
        await pools[1].query("insert into infergate_record (kind, id, owner, text) values ?", [rows]);
      },
    }),
    ledger(clock) {
      const database = new MysqlDatabase({ pool: shiftedPool(pools[0], clock) }, mysqlTables);
      return storageCreditLedger(new MysqlStorage(database), { clock, retentionMs });
    },
    storage: (clock) => new MeasuredStorage(shiftedPool(pools[0], clock), `cared_${++prefixes}_`),
    ledgerOptions: { holds: 1_000 },
    ledgerRuns: 10,
  };
}
