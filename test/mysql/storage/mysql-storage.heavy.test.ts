import { createPool, type Pool } from "mysql2/promise";
import { afterAll, beforeAll } from "vitest";
import type { Clock } from "../../../src/ledger/clock.js";
import { storageCreditLedger } from "../../../src/ledger/storage/storage-credit-ledger.js";
import { MysqlDatabase } from "../../../src/mysql/mysql-database.js";
import { MysqlStorage } from "../../../src/mysql/storage/mysql-storage.js";
import { storageTables } from "../../../src/mysql/storage/storage-tables.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeCreditLedgerModel } from "../../contracts/credit-ledger-model.js";
import { describeWithMariaDb } from "../../support/mariadb-server.js";
import { shiftedPool } from "./shifted-pool.js";

describeWithMariaDb("MariaDB", (server) => {
  let pool: Pool;

  beforeAll(() => {
    pool = createPool(server.url);
  });
  afterAll(() => pool.end());

  const ledgerOn = async (clock: Clock) => {
    const database = new MysqlDatabase({ pool: shiftedPool(pool, clock) }, storageTables);
    await database.migrate();
    // What another ledger has deleted by its clock may not be too old by this one's.
    await pool.query("delete from infergate_ledger_gone");
    return storageCreditLedger(new MysqlStorage(database), { clock });
  };

  describeCreditLedger("a ledger over MariaDB", ledgerOn, { holds: 1_000, limits: true });
  describeCreditLedgerModel("a ledger over MariaDB", ledgerOn, { runs: 10 });
});
